import { describe, expect, test } from "bun:test";
import assert from "node:assert/strict";
import { isApiError, isTimeoutError, PetstoreClient } from "../../client/src/index.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { errorResponse, ScriptedServer } from "../support/client/scripted-server.ts";
import { StockedService } from "../support/client/stocked-service.ts";

const sentKeys = (server: ScriptedServer) =>
  server.received.map(({ headers }) => headers.get("authorization"));
const unauthorized = () => errorResponse(401, "unauthorized", "No");

describe("an apiKey function", () => {
  test("is called before each attempt, so that a new key is used immediately", async () => {
    await using server = new ScriptedServer();
    let count = 0;
    const apiKey = async () => `key-${++count}`;
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey, backoffBaseMs: 0 });
    server.enqueue(() => errorResponse(503, "unavailable", "Busy"));
    await client.listInventory();
    await client.listInventory();
    expect(sentKeys(server)).toEqual(["Bearer key-1", "Bearer key-2", "Bearer key-3"]);
  });

  test("keeps a program working when its key is revoked", async () => {
    await using stocked = await StockedService.start();
    using session = await stocked.openSession();
    const { text: next } = await stocked.service.issueKey();
    // Like a program that reads its key from a file: the old key until the 401, then the new one.
    const keys = ["psk_live_revoked", next];
    const client = session.createClient({ apiKey: () => keys.shift() ?? next });
    const item = await client.updateInventory(1n, { quantity: 21 });
    expect(item.quantity).toBe(21);
    expect(session.recorder.exchanges.map(({ status }) => status)).toEqual([401, 200]);
  });

  test("is called again after a 401, and the call rejects if the key is the same", async () => {
    await using server = new ScriptedServer();
    let calls = 0;
    const apiKey = () => {
      calls++;
      return "key-1";
    };
    server.enqueue(unauthorized, unauthorized);
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
    expect(isApiError(await rejectionOf(client.listInventory()))).toBe(true);
    expect(calls).toBe(2);
    expect(server.received).toHaveLength(1);
  });

  test("causes at most one retry with a new key per call", async () => {
    await using server = new ScriptedServer();
    let count = 0;
    const apiKey = () => `key-${++count}`;
    server.enqueue(unauthorized, unauthorized, unauthorized);
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
    expect(isApiError(await rejectionOf(client.listInventory()))).toBe(true);
    expect(sentKeys(server)).toEqual(["Bearer key-1", "Bearer key-2"]);
  });

  test("causes no retry with a new key after retryForMs", async () => {
    await using server = new ScriptedServer();
    let nowMs = 0;
    const clock = { now: () => nowMs, sleep: () => new Promise<void>(() => {}) };
    const keys = ["key-1", "key-2"];
    const apiKey = () => {
      if (keys.length === 1) nowMs = 1001;
      return keys.shift() ?? "";
    };
    server.enqueue(unauthorized);
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey, clock, retryForMs: 1000 });
    expect(isApiError(await rejectionOf(client.listInventory()))).toBe(true);
    expect(sentKeys(server)).toEqual(["Bearer key-1"]);
  });

  test("that returns no valid key, or fails, rejects the call with the reason, and nothing is sent", async () => {
    await using server = new ScriptedServer();
    const { baseUrl } = server;
    const functions = [
      [() => "", "apiKey is missing"],
      [() => undefined as unknown as string, "apiKey is missing"],
      [async () => "secret\n", "apiKey must be a string of visible ASCII"],
      [() => Promise.reject(new Error("vault sealed")), "vault sealed"],
      [() => assert.fail("no key file"), "no key file"],
    ] as const;
    for (const [apiKey, reason] of functions) {
      const error = await rejectionOf(new PetstoreClient({ baseUrl, apiKey }).listInventory());
      expect(String(error)).toContain(reason);
      expect(String(error)).not.toContain("secret");
    }
    expect(server.received).toEqual([]);
  });

  test("that never returns rejects the call after timeoutMs, or when the call is aborted", async () => {
    await using server = new ScriptedServer();
    const { baseUrl } = server;
    const apiKey = () => new Promise<string>(() => {});
    const client = new PetstoreClient({ baseUrl, apiKey, timeoutMs: 5 });
    expect(isTimeoutError(await rejectionOf(client.listInventory()))).toBe(true);
    const abort = new AbortController();
    const call = client.listInventory({ signal: abort.signal, timeoutMs: 600_000 });
    abort.abort("enough");
    expect(await rejectionOf(call)).toBe("enough");
    expect(server.received).toEqual([]);
  });
});

test("with a key given as a string, a 401 is not retried", async () => {
  await using server = new ScriptedServer();
  server.enqueue(unauthorized);
  const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey: "key-1" });
  expect(isApiError(await rejectionOf(client.listInventory()))).toBe(true);
  expect(server.received).toHaveLength(1);
});
