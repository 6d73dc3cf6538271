import { describe, expect, test } from "bun:test";
import assert from "node:assert/strict";
import {
  type ClientOptions,
  ConflictError,
  isApiError,
  isConflictError,
  PetstoreClient,
  type UpdateOptions,
} from "../../client/src/index.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { apiKey, errorResponse, ScriptedServer } from "../support/client/scripted-server.ts";

const createClient = (server: ScriptedServer, options: Partial<ClientOptions> = {}) =>
  new PetstoreClient({ baseUrl: server.baseUrl, apiKey, backoffBaseMs: 0, ...options });

const entryResponse = (quantity: number, etag?: string) => () =>
  new Response(`{"petId":1,"quantity":${quantity},"status":"sold"}`, {
    headers: etag === undefined ? {} : { etag },
  });
const conflict = () =>
  errorResponse(412, "precondition_failed", "The quantity is 9", { etag: '"e-2"' });

const headerOf = (server: ScriptedServer, name: string) =>
  server.received.at(-1)?.headers.get(name);

test("getInventory and updateInventory return the item with its etag", async () => {
  await using server = new ScriptedServer();
  server.enqueue(entryResponse(4, '"e-1"'), entryResponse(5, '"e-2"'));
  const client = createClient(server);
  const read = await client.getInventory(1);
  expect(read).toEqual({ petId: 1n, quantity: 4, status: "sold", etag: '"e-1"' });
  const written = await client.updateInventory(1, { quantity: 5 }, { ifMatch: read.etag });
  expect(written).toEqual({ petId: 1n, quantity: 5, status: "sold", etag: '"e-2"' });
  expect(JSON.parse(JSON.stringify(written))).toMatchObject({ petId: 1, etag: '"e-2"' });
  expect(Object.isFrozen(written)).toBe(true);
  expect(server.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /v1/inventory/1",
    "PATCH /v1/inventory/1",
  ]);
});

test("a response without ETag is an error of getInventory, but not of an update that was applied", async () => {
  await using server = new ScriptedServer();
  server.enqueue(entryResponse(4), entryResponse(5));
  const client = createClient(server);
  const error = await rejectionOf(client.getInventory(1));
  expect(isApiError(error) && error).toMatchObject({ code: "unexpected_answer" });
  expect((await client.updateInventory(1, { quantity: 5 })).etag).toBe("");
});

describe("ifMatch", () => {
  test("is sent as If-Match: one ETag, several, or *", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    const sent = async (options: UpdateOptions) => {
      server.enqueue(entryResponse(5));
      await client.updateInventory(1, { quantity: 5 }, options);
      return headerOf(server, "if-match");
    };
    expect(await sent({ ifMatch: '"e-1"' })).toBe('"e-1"');
    expect(await sent({ ifMatch: ['"e-1"', '"e-2"'] })).toBe('"e-1", "e-2"');
    expect(await sent({ ifMatch: "*" })).toBe("*");
    expect(await sent({})).toBeNull();
  });

  test("that is missing or not a strong ETag is an error, and nothing is sent", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    for (const ifMatch of [
      undefined,
      null,
      "",
      "e-1",
      'W/"e-1"',
      [],
      ["*"],
      ['"a"', undefined],
      7,
    ]) {
      const options = { ifMatch } as UpdateOptions;
      const error = await rejectionOf(client.updateInventory(1, { quantity: 5 }, options));
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toContain("such as entry.etag");
    }
    expect(server.received).toEqual([]);
  });
});

describe("reason", () => {
  test("is sent percent-encoded as UTF-8", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    for (const reason of ["recount", "100 % über\n", " 🐕 "]) {
      server.enqueue(entryResponse(5));
      await client.updateInventory(1, { quantity: 5 }, { reason });
      const header = headerOf(server, "x-change-reason") ?? "";
      expect(header).toMatch(/^[!-~]+$/);
      expect(decodeURIComponent(header)).toBe(reason);
    }
    server.enqueue(entryResponse(5));
    await client.updateInventory(1, { quantity: 5 }, { reason: "" });
    expect(headerOf(server, "x-change-reason")).toBeNull();
  });

  test("that cannot be encoded is an error, and nothing is sent", async () => {
    await using server = new ScriptedServer();
    for (const reason of ["\ud800", "a\udc00b", 5 as unknown as string]) {
      const update = createClient(server).updateInventory(1, { quantity: 5 }, { reason });
      const error = await rejectionOf(update);
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toContain("reason must be a string");
    }
    expect(server.received).toEqual([]);
  });
});

describe("an update whose ifMatch does not match", () => {
  const update = (client: PetstoreClient, signal?: AbortSignal) =>
    rejectionOf(client.updateInventory(1, { quantity: 5 }, { ifMatch: '"e-1"', signal }));

  test("rejects with a ConflictError that has the current entry, read once", async () => {
    await using server = new ScriptedServer();
    server.enqueue(conflict, entryResponse(9, '"e-2"'));
    const error = await update(createClient(server));
    assert(isConflictError(error));
    expect(error).toBeInstanceOf(ConflictError);
    expect(isApiError(error)).toBe(true);
    expect(error).toMatchObject({
      name: "ConflictError",
      code: "precondition_failed",
      status: 412,
      message: "The quantity is 9",
      etag: '"e-2"',
      current: { petId: 1n, quantity: 9, status: "sold", etag: '"e-2"' },
    });
    expect(error.response?.headers.get("etag")).toBe('"e-2"');
    expect(server.received.map(({ method }) => method)).toEqual(["PATCH", "GET"]);
    expect(server.received[1]?.headers.has("if-match")).toBe(false);
  });

  test("has no current entry if it cannot be read", async () => {
    await using server = new ScriptedServer();
    server.enqueue(conflict, () => errorResponse(403, "insufficient_scope", "No"));
    const error = await update(createClient(server));
    assert(isConflictError(error));
    expect([error.current, error.etag]).toEqual([undefined, '"e-2"']);
    expect(server.received).toHaveLength(2);
  });

  test("reads the entry only in the time that the update left", async () => {
    await using server = new ScriptedServer();
    let nowMs = 0;
    const clock = { now: () => nowMs, sleep: () => new Promise<void>(() => {}) };
    const limits = { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "0" };
    server.enqueue(() => {
      nowMs = 400;
      const reset = { "x-ratelimit-reset": "1", ratelimit: '"minute";r=0;t=1' };
      return errorResponse(412, "precondition_failed", "No", { ...limits, ...reset });
    });
    const error = await update(createClient(server, { clock, retryForMs: 1000 }));
    // The next window begins at 1,400 ms, after the end of the call at 1,000 ms.
    expect(isConflictError(error) && error.current).toBeUndefined();
    expect(server.received).toHaveLength(1);
  });

  test("rejects with the reason of the caller who aborts while the entry is read", async () => {
    await using server = new ScriptedServer();
    const abort = new AbortController();
    server.enqueue(conflict, () => {
      abort.abort("enough");
      return new Promise<Response>(() => {});
    });
    expect(await update(createClient(server), abort.signal)).toBe("enough");
  });

  test("rejects with the error of a hook that throws while the entry is read", async () => {
    await using server = new ScriptedServer();
    server.enqueue(conflict);
    const bug = new Error("bug in a hook");
    const onRequest = ({ operation }: { operation: string }) => {
      if (operation === "getInventory") throw bug;
    };
    expect(await update(createClient(server, { hooks: { onRequest } }))).toBe(bug);
  });
});
