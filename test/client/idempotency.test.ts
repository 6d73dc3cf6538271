import { describe, expect, test } from "bun:test";
import { isApiError, PetstoreClient } from "../../client/src/index.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { apiKey, errorResponse, ScriptedServer } from "../support/client/scripted-server.ts";

const createClient = (server: ScriptedServer) =>
  new PetstoreClient({ baseUrl: server.baseUrl, apiKey, backoffBaseMs: 0 });
const unavailable = () => errorResponse(503, "unavailable", "Busy");
const updated = () => new Response('{"petId":1,"quantity":3,"status":"sold"}');

test("all attempts of an update have the same Idempotency-Key, and the next update has another", async () => {
  await using server = new ScriptedServer();
  const client = createClient(server);
  server.enqueue(unavailable, unavailable, updated, updated);
  await client.updateInventory(1, { quantity: 3 });
  await client.updateInventory(1, { quantity: 3 });
  const [first, second, third, next] = server.received.map(({ headers }) =>
    headers.get("idempotency-key"),
  );
  expect(first).toMatch(/^"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"$/);
  expect([second, third]).toEqual([first, first]);
  expect(next).not.toBe(first);
});

test("with attemptsMax 1, a failed update is not retried", async () => {
  await using server = new ScriptedServer();
  server.enqueue(unavailable);
  const error = await rejectionOf(
    createClient(server).updateInventory(1, { quantity: 3 }, { attemptsMax: 1 }),
  );
  expect(isApiError(error) && error.code).toBe("unavailable");
  expect(server.received).toHaveLength(1);
});

test("all attempts of a batch have the same Idempotency-Key, and the next batch has another", async () => {
  await using server = new ScriptedServer();
  const client = createClient(server);
  const applied = () => new Response('{"entries":[]}');
  server.enqueue(unavailable, applied, applied);
  await client.applyChanges([{ petId: 1, delta: 1 }]);
  await client.applyChanges([{ petId: 1, delta: 1 }]);
  const [first, second, next] = server.received.map(({ headers }) =>
    headers.get("idempotency-key"),
  );
  expect(first).toMatch(/^"[0-9a-f-]{36}"$/);
  expect(second).toBe(first!);
  expect(next).not.toBe(first!);
});

describe("an idempotencyKey of the caller", () => {
  test("is sent as a structured-field string with every attempt", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    server.enqueue(() => new Response(null, { status: 503 }), updated, updated);
    const send = (idempotencyKey: string) =>
      client.updateInventory(1, { quantity: 3 }, { idempotencyKey });
    await send("delivery-42");
    await send('a "quoted" \\ key');
    server.enqueue(() => new Response('{"entries":[]}'));
    await client.applyChanges([{ petId: 1, delta: 1 }], { idempotencyKey: "sale-7" });
    expect(server.received.map(({ headers }) => headers.get("idempotency-key"))).toEqual([
      '"delivery-42"',
      '"delivery-42"',
      '"a \\"quoted\\" \\\\ key"',
      '"sale-7"',
    ]);
  });

  test("is rejected if it is not a valid header value, and nothing is sent", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    for (const idempotencyKey of ["", "a\nb", "é", "x".repeat(256), 5 as unknown as string]) {
      const error = await rejectionOf(
        client.updateInventory(1, { quantity: 3 }, { idempotencyKey }),
      );
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toContain("1 to 255 printable ASCII characters");
    }
    expect(server.received).toEqual([]);
  });
});
