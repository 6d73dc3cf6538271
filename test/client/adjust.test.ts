import { describe, expect, test } from "bun:test";
import {
  type ClientOptions,
  type ComputeQuantity,
  isApiError,
  isConflictError,
  PetstoreClient,
} from "../../client/src/index.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { apiKey, errorResponse, ScriptedServer } from "../support/client/scripted-server.ts";

const createClient = (server: ScriptedServer, options: Partial<ClientOptions> = {}) =>
  new PetstoreClient({ baseUrl: server.baseUrl, apiKey, backoffBaseMs: 0, ...options });

const entryResponse = (quantity: number) => () =>
  new Response(`{"petId":1,"quantity":${quantity},"status":"sold"}`, {
    headers: { etag: `"v-${quantity}"` },
  });
const conflict = () => errorResponse(412, "precondition_failed", "Changed");
const increase: ComputeQuantity = ({ quantity }) => quantity + 1;

const seen = (server: ScriptedServer) =>
  server.received.map(({ method, headers }) => `${method} ${headers.get("if-match") ?? ""}`.trim());

describe("adjustInventory", () => {
  test("reads the entry, computes the count and writes it for the version that it read", async () => {
    await using server = new ScriptedServer();
    const bodies: unknown[] = [];
    server.enqueue(entryResponse(4), async (request) => {
      bodies.push(await request.json());
      return entryResponse(5)();
    });
    const given: unknown[] = [];
    const entry = await createClient(server).adjustInventory(
      1,
      async (current) => {
        given.push(current);
        return current.quantity + 1;
      },
      { reason: "found one" },
    );
    expect(given).toEqual([{ petId: 1n, quantity: 4, status: "sold", etag: '"v-4"' }]);
    expect(bodies).toEqual([{ quantity: 5 }]);
    expect(entry).toEqual({ petId: 1n, quantity: 5, status: "sold", etag: '"v-5"' });
    expect(seen(server)).toEqual(["GET", 'PATCH "v-4"']);
    expect(server.received[1]?.headers.get("x-change-reason")).toBe("found%20one");
  });

  test("reads and computes again after each conflict, with a new Idempotency-Key", async () => {
    await using server = new ScriptedServer();
    for (const quantity of [4, 7, 8]) server.enqueue(entryResponse(quantity), conflict);
    server.enqueue(entryResponse(20), entryResponse(21));
    const entry = await createClient(server).adjustInventory(1, increase);
    expect(entry.quantity).toBe(21);
    expect(seen(server).filter((line) => line !== "GET")).toEqual([
      'PATCH "v-4"',
      'PATCH "v-7"',
      'PATCH "v-8"',
      'PATCH "v-20"',
    ]);
    const keys = server.received.flatMap(({ headers }) => headers.get("idempotency-key") ?? []);
    expect(new Set(keys).size).toBe(4);
  });

  test("repeats a write without a response with the same key, and does not compute again", async () => {
    await using server = new ScriptedServer();
    server.enqueue(
      entryResponse(4),
      () => errorResponse(503, "unavailable", "Busy"),
      entryResponse(5),
    );
    let calls = 0;
    const compute: ComputeQuantity = ({ quantity }) => {
      calls++;
      return quantity + 1;
    };
    await createClient(server).adjustInventory(1, compute);
    expect(calls).toBe(1);
    expect(seen(server)).toEqual(["GET", 'PATCH "v-4"', 'PATCH "v-4"']);
    const [, first, second] = server.received.map(({ headers }) => headers.get("idempotency-key"));
    expect(second).toBe(first!);
  });

  test("sends the caller's idempotencyKey in every round", async () => {
    await using server = new ScriptedServer();
    server.enqueue(entryResponse(4), conflict, entryResponse(5), entryResponse(6));
    await createClient(server).adjustInventory(1, increase, { idempotencyKey: "count-7" });
    const keys = server.received.flatMap(({ headers }) => headers.get("idempotency-key") ?? []);
    expect(keys).toEqual(['"count-7"', '"count-7"']);
  });

  test("rejects with a ConflictError after roundsMax rounds", async () => {
    await using server = new ScriptedServer();
    server.enqueue(entryResponse(4), conflict, entryResponse(5), conflict, entryResponse(6));
    const client = createClient(server);
    const error = await rejectionOf(client.adjustInventory(1, increase, { roundsMax: 2 }));
    expect(isConflictError(error) && error.current?.quantity).toBe(6);
    expect(server.received).toHaveLength(5);
    const invalid = await rejectionOf(client.adjustInventory(1, increase, { roundsMax: 0 }));
    expect(invalid).toBeInstanceOf(RangeError);
  });

  test("rejects with a ConflictError once retryForMs has passed", async () => {
    await using server = new ScriptedServer();
    let nowMs = 0;
    const clock = { now: () => nowMs, sleep: () => new Promise<void>(() => {}) };
    server.enqueue(
      entryResponse(4),
      () => {
        nowMs = 1001;
        return conflict();
      },
      entryResponse(5),
    );
    const client = createClient(server, { clock, retryForMs: 1000 });
    expect(isConflictError(await rejectionOf(client.adjustInventory(1, increase)))).toBe(true);
    expect(seen(server)).toEqual(["GET", 'PATCH "v-4"', "GET"]);
  });

  test("waits before the third round, for longer with each conflict", async () => {
    await using server = new ScriptedServer();
    for (const quantity of [1, 2, 3, 4]) server.enqueue(entryResponse(quantity), conflict);
    server.enqueue(entryResponse(5), entryResponse(6));
    const delays: number[] = [];
    const clock = {
      now: () => 0,
      sleep: (ms: number) => {
        if (ms >= 30_000) return new Promise<void>(() => {});
        delays.push(ms);
        return Promise.resolve();
      },
    };
    const options = { clock, random: () => 0.5, backoffBaseMs: 100 };
    await createClient(server, options).adjustInventory(1, increase);
    expect(delays).toEqual([50, 100, 200]);
  });

  test("rejects with the function's error, and nothing is written", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    const soldOut = new Error("sold out");
    server.enqueue(entryResponse(0), entryResponse(0));
    const thrown = client.adjustInventory(1, () => {
      throw soldOut;
    });
    expect(await rejectionOf(thrown)).toBe(soldOut);
    const nothing = (() => undefined) as unknown as ComputeQuantity;
    expect(await rejectionOf(client.adjustInventory(1, nothing))).toBeInstanceOf(TypeError);
    expect(seen(server)).toEqual(["GET", "GET"]);
    const noFunction = 5 as unknown as ComputeQuantity;
    expect(await rejectionOf(client.adjustInventory(1, noFunction))).toBeInstanceOf(TypeError);
    expect(server.received).toHaveLength(2);
  });

  test("rejects with any other error of the service, and does not try again", async () => {
    await using server = new ScriptedServer();
    server.enqueue(entryResponse(0), () => errorResponse(400, "invalid_request", "No"));
    const error = await rejectionOf(createClient(server).adjustInventory(1, () => -1));
    expect(isApiError(error) && error.code).toBe("invalid_request");
    expect(server.received).toHaveLength(2);
  });

  test("rejects with the reason of the caller who aborts between two rounds", async () => {
    await using server = new ScriptedServer();
    server.enqueue(entryResponse(4), conflict, entryResponse(5), conflict);
    const abort = new AbortController();
    const clock = {
      now: () => 0,
      sleep: async (ms: number) => {
        if (ms >= 30_000) return new Promise<void>(() => {});
        abort.abort("enough");
      },
    };
    const { signal } = abort;
    const client = createClient(server, { clock });
    expect(await rejectionOf(client.adjustInventory(1, increase, { signal }))).toBe("enough");
    expect(server.received).toHaveLength(4);
  });
});
