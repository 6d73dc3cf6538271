import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import type { Config } from "../src/config.ts";
import type { FinishedRequest } from "../src/domain/running/requests.ts";
import type { Observer } from "../src/http/pipeline/observe.ts";
import { type CallOptions, startTestService, type TestService } from "./support/service.ts";

/** A service whose finished requests are collected. */
async function startObserved(
  flags: Record<string, string> = {},
  petsSunset?: string,
  bounds: Partial<Config> = {},
) {
  const seen: FinishedRequest[] = [];
  const observer: Observer = (request) => void seen.push(request);
  const all = petsSunset === undefined ? flags : { ...flags, "pets-sunset": petsSunset };
  const service = await startTestService("sqlite", all, bounds, { observer });
  const key = await service.issueKey();
  /** Sends one request and returns its response and what was observed of it. */
  const observe = async (method: string, path: string, options: CallOptions = {}) => {
    const before = seen.length;
    const response = await service.call(method, path, { key: key.text, ...options });
    expect(seen.length).toBe(before + 1);
    return { response, observed: seen.at(-1)! };
  };
  return { service, seen, keyId: key.id, observe };
}

const body = '{"quantity":4}';

describe("an observer", () => {
  test("sees operation, method, status, duration, bytes and key of a successful request", async () => {
    const { service, observe, keyId } = await startObserved();
    await service.addPets({ petId: 1n, name: "Zoë" });
    const requests = [
      ["listInventory", "GET", "/inventory", {}],
      ["getInventory", "GET", "/inventory/1", {}],
      ["updateInventory", "PATCH", "/inventory/1", { body }],
      ["applyChanges", "POST", "/changes", { body: '{"changes":[{"petId":1,"delta":1}]}' }],
      ["getPet", "GET", "/pets/1", {}],
      ["listOrders", "GET", "/store/orders", {}],
    ] as const;
    for (const [operation, method, path, options] of requests) {
      const { response, observed } = await observe(method, path, options);
      const { durationMs, requestId, startedMs, headers, ...rest } = observed;
      const bytes = Buffer.byteLength(response.text);
      expect(rest).toEqual({
        operation,
        method,
        status: 200,
        bytes,
        keyId,
        errorCode: undefined,
        failure: undefined,
        trace: undefined,
      });
      expect(durationMs).toBeGreaterThan(0);
    }
    await service.stop();
  });

  test("sees 0 bytes for HEAD and for responses without a body", async () => {
    const { service, observe } = await startObserved();
    const { response } = await observe("GET", "/inventory");
    const known = { headers: { "If-None-Match": response.headers.get("ETag")! } };
    const requests = [
      ["HEAD", "/inventory", 200, "listInventory", {}],
      ["HEAD", "/pets/1", 404, "getPet", {}],
      ["GET", "/inventory", 304, "listInventory", known],
      ["OPTIONS", "/inventory", 204, undefined, {}],
    ] as const;
    for (const [method, path, status, operation, options] of requests) {
      const { observed } = await observe(method, path, options);
      expect(observed).toMatchObject({ method, status, operation, bytes: 0 });
    }
    await service.stop();
  });

  test("sees the error code of every rejected request, and the key if it is valid", async () => {
    const { service, observe, keyId } = await startObserved({}, "2026-12-01T00:00:00Z");
    const narrow = await service.issueKey({ scopes: ["pets:read"] });
    const limits = { perMinute: 1, perDay: 1 };
    const spent = await service.issueKey({ plan: "enterprise", limits });
    await service.call("GET", "/inventory", { key: spent.text });
    service.clock.set(Date.UTC(2026, 11, 2));
    await service.call("GET", "/inventory", { key: spent.text });
    const update = "updateInventory";
    const plain = { body, headers: { "Content-Type": "text/plain" } };
    const unmet = { headers: { "If-Match": '"other"' } };
    const list = "listInventory";
    const requests = [
      ["PATCH", "/inventory/x", { body }, update, 400, "invalid_request", keyId],
      ["GET", "/inventory", { key: undefined }, list, 401, "unauthorized", undefined],
      ["GET", "/inventory", { key: narrow.text }, list, 403, "insufficient_scope", narrow.id],
      ["PATCH", "/inventory/9", { body }, update, 404, "not_found", keyId],
      ["GET", "/nothing", {}, undefined, 404, "not_found", keyId],
      ["DELETE", "/inventory", {}, undefined, 405, "method_not_allowed", keyId],
      ["GET", "/pets/1", {}, "getPet", 410, "gone", keyId],
      ["GET", "/inventory", unmet, list, 412, "precondition_failed", keyId],
      [
        "PATCH",
        "/inventory/1",
        { body: "x".repeat(70_000) },
        update,
        413,
        "payload_too_large",
        keyId,
      ],
      ["PATCH", "/inventory/1", plain, update, 415, "unsupported_media_type", keyId],
      ["GET", "/inventory", { key: spent.text }, list, 429, "rate_limit_exceeded", spent.id],
    ] as const;
    for (const [method, path, options, operation, status, errorCode, caller] of requests) {
      const { response, observed } = await observe(method, path, options);
      const bytes = response.text.length;
      const expected = { operation, method, status, bytes, keyId: caller, errorCode };
      expect(observed).toMatchObject(expected);
      expect(bytes).toBeGreaterThan(0);
    }
    await service.stop();
  });

  test("sees 500 and 503", async () => {
    const { service, seen, observe } = await startObserved({}, undefined, {
      // Fewer than a flag can set.
      writesWaitingMax: 2,
      writesPerGroupMax: 1,
    });
    const database = new Database(service.databaseUrl.slice("sqlite:".length));
    database.run("ALTER TABLE orders RENAME TO elsewhere");
    database.close();
    const { observed } = await observe("GET", "/store/orders");
    expect(observed).toMatchObject({ status: 500, errorCode: "internal_error" });
    await service.addPets({ petId: 1n });
    const { text: key } = await service.issueKey();
    await Promise.all(
      Array.from({ length: 60 }, () => service.call("PATCH", "/inventory/1", { key, body })),
    );
    const unavailable = seen.filter(({ status }) => status === 503);
    expect(unavailable.length).toBeGreaterThan(0);
    for (const { errorCode } of unavailable) expect(errorCode).toBe("unavailable");
    await service.stop();
  });

  test("sees the length of a list that is streamed, and of one that is compressed", async () => {
    const { service, observe, seen } = await startObserved();
    await service.addPets(...Array.from({ length: 25_000 }, (_, at) => ({ petId: BigInt(at) })));
    const headers = { "Accept-Encoding": "identity" };
    const streamed = await observe("GET", "/inventory", { headers });
    expect(streamed.response.headers.has("Content-Length")).toBe(false);
    expect(streamed.observed.bytes).toBe(streamed.response.text.length);
    expect(streamed.observed.bytes).toBeGreaterThan(1024 * 1024);
    const compressed = await compressedLength(service);
    expect(seen.at(-1)!.bytes).toBe(compressed);
    expect(compressed).toBeLessThan(streamed.observed.bytes / 2);
    await service.stop();
  });

  test("that throws does not affect requests, and the log records it once", async () => {
    const observer = () => {
      throw new Error("the metrics are full");
    };
    const service = await startTestService("sqlite", {}, {}, { observer });
    const { text: key } = await service.issueKey();
    for (let sent = 0; sent < 5; sent++) {
      expect((await service.call("GET", "/inventory", { key })).status).toBe(200);
      expect((await service.call("GET", "/nothing", { key })).status).toBe(404);
    }
    const lines = service.logged.filter((line) => line.includes("observing requests"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("the metrics are full");
    await service.stop();
  });
});

/** Requests the list until it is compressed. Returns the number of bytes that were sent. */
async function compressedLength(service: TestService): Promise<number> {
  const { text: key } = await service.issueKey();
  const headers = { Authorization: `Bearer ${key}`, "Accept-Encoding": "gzip" };
  for (let attempt = 0; attempt < 500; attempt++) {
    const response = await fetch(`${service.baseUrl}/inventory`, { headers, decompress: false });
    const { byteLength } = await response.arrayBuffer();
    if (response.headers.get("Content-Encoding") === "gzip") return byteLength;
  }
  throw new Error("the list was never compressed");
}

test("without an observer only the start of a request is timed, for the duration of refused ones", async () => {
  const real = performance.now;
  let reads = 0;
  const readsOf = async (observer: Observer | undefined) => {
    const extras = observer ? { observer } : {};
    const service = await startTestService("sqlite", {}, {}, extras);
    const { text: key } = await service.issueKey();
    await service.call("GET", "/inventory", { key });
    reads = 0;
    performance.now = () => {
      // Other parts of the service read the clock now and then, for example to compress the list.
      const callers = new Error().stack!.split("\n").slice(2, 4).join();
      if (/http\/pipeline\//.test(callers)) reads += 1;
      return real.call(performance);
    };
    for (let sent = 0; sent < 10; sent++) await service.call("GET", "/inventory", { key });
    performance.now = real;
    const counted = reads;
    await service.stop();
    return counted;
  };
  try {
    expect(await readsOf(undefined)).toBe(10);
    expect(await readsOf(() => {})).toBe(20);
  } finally {
    performance.now = real;
  }
});
