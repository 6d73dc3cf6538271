import { expect, test } from "bun:test";
import { isApiError, PetstoreClient } from "../../client/src/index.ts";
import { apiKey, refuse, ScriptedServer } from "../support/client/scripted-server.ts";

// What the client makes of answers that the service never gives.

const connect = (server: ScriptedServer) =>
  new PetstoreClient({ baseUrl: server.baseUrl, apiKey, backoffBaseMs: 0 });
const failureOf = (work: Promise<unknown>) => work.catch((reason: unknown) => reason);

test("a body that breaks the contract is refused, and its field named", async () => {
  await using server = new ScriptedServer();
  const client = connect(server);
  const bodies = {
    "<html></html>": "JSON",
    "{}": "expected an array",
    "[null]": "expected an object",
    '[{"petId":"1","quantity":1,"status":"sold"}]': "petId is not an integer",
    '[{"petId":1.5,"quantity":1,"status":"sold"}]': "petId is not an integer",
    '[{"petId":1e18,"quantity":1,"status":"sold"}]': "petId is not an integer",
    '[{"petId":10000000000000000000,"quantity":1,"status":"sold"}]': "petId is not an integer",
    '[{"petId":1,"quantity":1e300,"status":"sold"}]': "quantity is not an integer",
    '[{"petId":1,"quantity":1,"status":"lost"}]': "status is not one of",
  };
  for (const [body, reason] of Object.entries(bodies)) {
    server.play(() => new Response(body));
    const error = await failureOf(client.listInventory());
    expect(isApiError(error) && error.code).toBe("unexpected_answer");
    expect(String(error)).toContain(reason);
  }
});

test("a page of a proxy is an unexpected_answer, and not asked for again", async () => {
  await using server = new ScriptedServer();
  server.play(() => new Response("<h1>Bad gateway</h1>", { status: 502 }));
  const error = await failureOf(connect(server).listInventory());
  expect(isApiError(error) && error.code).toBe("unexpected_answer");
  expect(isApiError(error) && error.status).toBe(502);
  expect(String(error)).toContain("Bad gateway");
  expect(server.received).toHaveLength(1);
});

test("an error body without its three fields is an unexpected_answer", async () => {
  await using server = new ScriptedServer();
  const client = connect(server);
  for (const body of [
    '{"message":"no"}',
    '{"code":"no","message":"no"}',
    '{"code":"","status":400}',
  ]) {
    server.play(() => new Response(body, { status: 400 }));
    const error = await failureOf(client.listInventory());
    expect(isApiError(error) && error.code).toBe("unexpected_answer");
  }
});

test("the key is never sent to an address that came in a link", async () => {
  await using server = new ScriptedServer();
  await using stranger = new ScriptedServer();
  const link = `<${stranger.baseUrl}/store/orders?after=9>; title="a, b"; rel="prev next"`;
  server.play(() => new Response("[]", { headers: { link } }));
  for await (const _ of connect(server).eachOrder()) break;
  expect(stranger.received).toHaveLength(0);
  expect(server.received[1]?.path).toBe("/v1/store/orders?after=9");
});

test("all attempts of an update carry one Idempotency-Key, and the next update another", async () => {
  await using server = new ScriptedServer();
  const client = connect(server);
  const busy = () => refuse(503, "unavailable", "Busy");
  const done = () => new Response('{"petId":1,"quantity":3,"status":"sold"}');
  server.play(busy, busy, done, done);
  await client.updateInventory(1, { quantity: 3 });
  await client.updateInventory(1, { quantity: 3 });
  const [first, second, third, next] = server.received.map(({ headers }) =>
    headers.get("idempotency-key"),
  );
  expect(first).toMatch(/^"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"$/);
  expect([second, third]).toEqual([first, first]);
  expect(next).not.toBe(first);
});

test("with attemptsMax 1 an update is sent once, whatever happens", async () => {
  await using server = new ScriptedServer();
  server.play(() => refuse(503, "unavailable", "Busy"));
  const error = await failureOf(
    connect(server).updateInventory(1, { quantity: 3 }, { attemptsMax: 1 }),
  );
  expect(isApiError(error) && error.code).toBe("unavailable");
  expect(server.received).toHaveLength(1);
});
