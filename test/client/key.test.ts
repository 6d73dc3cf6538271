import { describe, expect, test } from "bun:test";
import assert from "node:assert/strict";
import { isApiError, isTimeoutError, PetstoreClient } from "../../client/src/index.ts";
import { refuse, ScriptedServer } from "../support/client/scripted-server.ts";
import { Shop } from "../support/client/shop.ts";

const failureOf = (work: Promise<unknown>) => work.catch((reason: unknown) => reason);
const keysOf = (server: ScriptedServer) =>
  server.received.map(({ headers }) => headers.get("authorization"));
const unauthorized = () => refuse(401, "unauthorized", "No");

describe("a key given as a function", () => {
  test("is asked for before each attempt, so that a new one is used at once", async () => {
    await using server = new ScriptedServer();
    let count = 0;
    const apiKey = async () => `key-${++count}`;
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey, backoffBaseMs: 0 });
    server.play(() => refuse(503, "unavailable", "Busy"));
    await client.listInventory();
    await client.listInventory();
    expect(keysOf(server)).toEqual(["Bearer key-1", "Bearer key-2", "Bearer key-3"]);
  });

  test("lets a program live through the revocation of its key", async () => {
    await using shop = await Shop.open();
    using it = await shop.enter();
    const { text: next } = await shop.service.issueKey();
    // As a program that reads its key from a file does: the old one until the 401, then the new.
    const keys = ["psk_live_revoked", next];
    const client = it.connect({ apiKey: () => keys.shift() ?? next });
    const item = await client.updateInventory(1n, { quantity: 21 });
    expect(item.quantity).toBe(21);
    expect(it.traffic.exchanges.map(({ status }) => status)).toEqual([401, 200]);
  });

  test("is asked for once more after a 401, and the refusal is final if nothing changed", async () => {
    await using server = new ScriptedServer();
    let asked = 0;
    const apiKey = () => {
      asked++;
      return "key-1";
    };
    server.play(unauthorized, unauthorized);
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
    expect(isApiError(await failureOf(client.listInventory()))).toBe(true);
    expect(asked).toBe(2);
    expect(server.received).toHaveLength(1);
  });

  test("is tried with one other key at most in a call, however many it gives", async () => {
    await using server = new ScriptedServer();
    let count = 0;
    const apiKey = () => `key-${++count}`;
    server.play(unauthorized, unauthorized, unauthorized);
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
    expect(isApiError(await failureOf(client.listInventory()))).toBe(true);
    expect(keysOf(server)).toEqual(["Bearer key-1", "Bearer key-2"]);
  });

  test("that takes past the time for the call is not tried with its other key", async () => {
    await using server = new ScriptedServer();
    let nowMs = 0;
    const clock = { now: () => nowMs, sleep: () => new Promise<void>(() => {}) };
    const keys = ["key-1", "key-2"];
    const apiKey = () => {
      if (keys.length === 1) nowMs = 1001;
      return keys.shift() ?? "";
    };
    server.play(unauthorized);
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey, clock, retryForMs: 1000 });
    expect(isApiError(await failureOf(client.listInventory()))).toBe(true);
    expect(keysOf(server)).toEqual(["Bearer key-1"]);
  });

  test("that gives none, or fails, ends the call with that reason, and nothing is sent", async () => {
    await using server = new ScriptedServer();
    const { baseUrl } = server;
    const broken = [
      [() => "", "apiKey is missing"],
      [() => undefined as unknown as string, "apiKey is missing"],
      [async () => "secret\n", "apiKey must be a string of visible ASCII"],
      [() => Promise.reject(new Error("vault sealed")), "vault sealed"],
      [() => assert.fail("no key file"), "no key file"],
    ] as const;
    for (const [apiKey, reason] of broken) {
      const error = await failureOf(new PetstoreClient({ baseUrl, apiKey }).listInventory());
      expect(String(error)).toContain(reason);
      expect(String(error)).not.toContain("secret");
    }
    expect(server.received).toEqual([]);
  });

  test("that never answers ends the call in time, or when it is aborted", async () => {
    await using server = new ScriptedServer();
    const { baseUrl } = server;
    const apiKey = () => new Promise<string>(() => {});
    const client = new PetstoreClient({ baseUrl, apiKey, timeoutMs: 5 });
    expect(isTimeoutError(await failureOf(client.listInventory()))).toBe(true);
    const abort = new AbortController();
    const call = client.listInventory({ signal: abort.signal, timeoutMs: 600_000 });
    abort.abort("enough");
    expect(await failureOf(call)).toBe("enough");
    expect(server.received).toEqual([]);
  });
});

test("a key given as a string is refused for good by a 401", async () => {
  await using server = new ScriptedServer();
  server.play(unauthorized);
  const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey: "key-1" });
  expect(isApiError(await failureOf(client.listInventory()))).toBe(true);
  expect(server.received).toHaveLength(1);
});
