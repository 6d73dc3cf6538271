import { expect, test } from "bun:test";
import { isApiError, PetstoreClient } from "../../client/src/index.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { apiKey, ScriptedServer } from "../support/client/scripted-server.ts";

const createClient = (server: ScriptedServer) =>
  new PetstoreClient({ baseUrl: server.baseUrl, apiKey, backoffBaseMs: 0 });

test("a body that does not match the contract is an error that names the field", async () => {
  await using server = new ScriptedServer();
  const client = createClient(server);
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
    server.enqueue(() => new Response(body));
    const error = await rejectionOf(client.listInventory());
    expect(isApiError(error) && error.code).toBe("unexpected_answer");
    expect(String(error)).toContain(reason);
  }
});

test("a proxy's error page is an unexpected_answer, and the call is not retried", async () => {
  await using server = new ScriptedServer();
  server.enqueue(() => new Response("<h1>Forbidden</h1>", { status: 403 }));
  const error = await rejectionOf(createClient(server).listInventory());
  expect(isApiError(error) && error.code).toBe("unexpected_answer");
  expect(isApiError(error) && error.status).toBe(403);
  expect(String(error)).toContain("Forbidden");
  expect(server.received).toHaveLength(1);
});

test("a call is retried when a proxy reports that the service did not respond", async () => {
  await using server = new ScriptedServer();
  const page = (status: number) => () => new Response("<h1>Sorry</h1>", { status });
  server.enqueue(page(502), page(504));
  expect(await createClient(server).listInventory()).toEqual([]);
  server.enqueue(page(502), page(502));
  const error = await rejectionOf(createClient(server).listInventory({ attemptsMax: 2 }));
  expect(isApiError(error) && error).toMatchObject({ code: "unexpected_answer", status: 502 });
  expect(server.received).toHaveLength(5);
});

test("an error body without code, message and status is an unexpected_answer", async () => {
  await using server = new ScriptedServer();
  const client = createClient(server);
  for (const body of [
    '{"message":"no"}',
    '{"code":"no","message":"no"}',
    '{"code":"","status":400}',
  ]) {
    server.enqueue(() => new Response(body, { status: 400 }));
    const error = await rejectionOf(client.listInventory());
    expect(isApiError(error) && error.code).toBe("unexpected_answer");
  }
});

test("the key is never sent to the host of a link", async () => {
  await using server = new ScriptedServer();
  await using otherHost = new ScriptedServer();
  const link = `<${otherHost.baseUrl}/store/orders?after=9>; title="a, b"; rel="prev next"`;
  server.enqueue(() => new Response("[]", { headers: { link } }));
  for await (const _ of createClient(server).eachOrder()) break;
  expect(otherHost.received).toHaveLength(0);
  expect(server.received[1]?.path).toBe("/v1/store/orders?after=9");
});
