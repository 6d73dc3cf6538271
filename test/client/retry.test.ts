import { describe, expect, test } from "bun:test";
import {
  type ClientOptions,
  isApiError,
  isNetworkError,
  isTimeoutError,
  PetstoreClient,
} from "../../client/src/index.ts";
import { FetchRecorder } from "../support/client/fetch-recorder.ts";
import { ManualClock, runToCompletion } from "../support/client/manual-clock.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { apiKey, errorResponse, ScriptedServer } from "../support/client/scripted-server.ts";
import { createTestClock } from "../support/clock.ts";

const start = Date.parse("2026-11-15T10:00:20Z");
const unavailable = () => errorResponse(503, "unavailable", "Busy");

function startSession(options: Partial<ClientOptions> = {}) {
  const clock = new ManualClock(createTestClock(start));
  const recorder = new FetchRecorder();
  const server = new ScriptedServer();
  const { baseUrl } = server;
  const client = new PetstoreClient({ baseUrl, apiKey, clock, fetch: recorder.fetch, ...options });
  const run = <T>(work: Promise<T>) => runToCompletion(clock, recorder, work);
  return {
    clock,
    client,
    server,
    run,
    /** Returns the reason with which the work rejects. */
    runToRejection: (work: Promise<unknown>) => run(rejectionOf(work)),
    recorder,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Starts a server that responds to every connection with that text and then closes it. */
function startClosingServer(text: string) {
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        socket.end(text);
      },
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    [Symbol.dispose]: () => server.stop(true),
  };
}

/** Returns a URL on which no server listens. */
function unusedUrl(): string {
  using server = startClosingServer("");
  return server.baseUrl;
}

describe("a call with a temporary error", () => {
  test("is retried after a delay with full jitter, whose bound doubles", async () => {
    await using session = startSession({ random: () => 0.5 });
    const times: number[] = [];
    for (let count = 0; count < 4; count++) {
      session.server.enqueue(() => {
        times.push(session.clock.now() - start);
        return unavailable();
      });
    }
    await session.run(session.client.listInventory());
    expect(times).toEqual([0, 125, 375, 875]);
    expect(session.clock.now() - start).toBe(1875);
  });

  test("is never retried before Retry-After, even without jitter", async () => {
    await using session = startSession({ random: () => 0 });
    session.server.enqueue(() => errorResponse(503, "unavailable", "Busy", { "retry-after": "9" }));
    await session.run(session.client.listInventory());
    expect(session.clock.now() - start).toBe(9000);
  });

  test("rejects with the last error when no attempts are left", async () => {
    await using session = startSession({ attemptsMax: 3 });
    session.server.enqueue(unavailable, unavailable, unavailable);
    const error = await session.runToRejection(session.client.listInventory());
    expect(isApiError(error) && error).toMatchObject({ code: "unavailable", status: 503 });
    expect(session.server.received).toHaveLength(3);
  });

  test("is not retried after retryForMs", async () => {
    await using session = startSession({ retryForMs: 5000 });
    session.server.enqueue(() => errorResponse(503, "unavailable", "Busy", { "retry-after": "6" }));
    const error = await session.runToRejection(session.client.listInventory());
    expect(isApiError(error) && error).toMatchObject({ code: "unavailable", retryAfter: 6 });
    expect(session.clock.now()).toBe(start);
  });

  test("is retried when the connection is refused or closed, or the response is incomplete", async () => {
    using closed = startClosingServer("");
    using partial = startClosingServer("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n[");
    await using session = startSession();
    const { baseUrl } = session.server;
    const brokenUrls = [unusedUrl(), closed.baseUrl, partial.baseUrl];
    const client = new PetstoreClient({
      baseUrl,
      apiKey,
      clock: session.clock,
      fetch: (url, init) =>
        session.recorder.fetch(url.replace(baseUrl, brokenUrls.shift() ?? baseUrl), init),
    });
    expect(await session.run(client.listInventory())).toEqual([]);
    expect(brokenUrls).toEqual([]);
    expect(session.server.received).toHaveLength(1);
  });

  test("rejects with a NetworkError when the connection fails every time", async () => {
    await using session = startSession({ baseUrl: unusedUrl(), attemptsMax: 2 });
    const error = await session.runToRejection(session.client.listInventory());
    expect(isNetworkError(error)).toBe(true);
    expect(String(error)).not.toContain(apiKey);
  });
});

test("after a 429, no call is sent before Retry-After, including later calls", async () => {
  await using session = startSession({ random: () => 0 });
  const sentAt: number[] = [];
  for (const [code, seconds] of [
    ["rate_limit_exceeded", "17"],
    ["key_banned", "90"],
  ] as const) {
    session.server.enqueue(() => {
      sentAt.push(session.clock.now() - start);
      return errorResponse(429, code, "Wait", { "retry-after": seconds });
    });
  }
  await session.run(Promise.all([session.client.listInventory(), session.client.listInventory()]));
  expect(sentAt).toEqual([0, 17_000]);
  expect(session.clock.now() - start).toBe(107_000);
  expect(session.server.received).toHaveLength(4);
});

describe("an attempt without a response", () => {
  test("times out, is retried, and the call rejects with a TimeoutError", async () => {
    const clock = new ManualClock(createTestClock(start));
    await using server = new ScriptedServer();
    const { promise: never } = Promise.withResolvers<Response>();
    const arrivals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    for (const arrival of arrivals) {
      server.enqueue(() => {
        arrival.resolve();
        return never;
      });
    }
    const { baseUrl } = server;
    const options = { baseUrl, apiKey, clock, timeoutMs: 4000, attemptsMax: 2, backoffBaseMs: 0 };
    const rejection = rejectionOf(new PetstoreClient(options).listInventory());
    await arrivals[0]?.promise;
    const retryDelay = clock.nextSleep();
    clock.advanceTo(start + 4000);
    await retryDelay;
    clock.advanceTo(start + 4000);
    await arrivals[1]?.promise;
    clock.advanceTo(start + 8000);
    expect(isTimeoutError(await rejection)).toBe(true);
  });

  test("times out even if only the body is missing", async () => {
    const clock = new ManualClock(createTestClock(start));
    await using server = new ScriptedServer();
    server.enqueue(
      () => new Response(new ReadableStream({ start: (stream) => stream.enqueue("[") })),
    );
    const hasHeaders = Promise.withResolvers<void>();
    const client = new PetstoreClient({
      baseUrl: server.baseUrl,
      apiKey,
      clock,
      attemptsMax: 1,
      timeoutMs: 4000,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        hasHeaders.resolve();
        return response;
      },
    });
    const rejection = rejectionOf(client.listInventory());
    await hasHeaders.promise;
    clock.advanceTo(start + 4000);
    expect(isTimeoutError(await rejection)).toBe(true);
  });
});

test("a call that cannot be sent within retryForMs rejects with a TimeoutError", async () => {
  const clock = new ManualClock(createTestClock(start));
  await using server = new ScriptedServer();
  const arrived = Promise.withResolvers<void>();
  const { promise: held, resolve: release } = Promise.withResolvers<Response>();
  server.enqueue(() => {
    arrived.resolve();
    return held;
  });
  const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey, clock, parallelMax: 1 });
  const first = client.listInventory();
  const second = rejectionOf(client.listInventory({ retryForMs: 2000 }));
  await arrived.promise;
  clock.advanceTo(start + 2000);
  expect(isTimeoutError(await second)).toBe(true);
  release(new Response("[]"));
  expect(await first).toEqual([]);
  expect(server.received).toHaveLength(1);
});

describe("an AbortSignal", () => {
  test("that times out rejects the call with its own reason, not with the client's TimeoutError", async () => {
    await using server = new ScriptedServer();
    server.enqueue(() => new Promise<Response>(() => {}));
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
    const reason = await rejectionOf(client.listInventory({ signal: AbortSignal.timeout(1) }));
    expect(reason).toBeInstanceOf(DOMException);
    expect(isTimeoutError(reason)).toBe(false);
  });

  test("cancels a request in flight, and the call rejects with its reason", async () => {
    await using server = new ScriptedServer();
    const abort = new AbortController();
    server.enqueue(() => {
      abort.abort("enough");
      return new Promise<Response>(() => {});
    });
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
    await expect(client.listInventory({ signal: abort.signal })).rejects.toBe("enough");
  });

  test("cancels a retry delay", async () => {
    await using session = startSession();
    const abort = new AbortController();
    session.server.enqueue(() => {
      queueMicrotask(() => session.recorder.waitUntilIdle().then(() => abort.abort("enough")));
      return errorResponse(503, "unavailable", "Busy", { "retry-after": "60" });
    });
    const call = session.client.listInventory({ signal: abort.signal });
    expect(await rejectionOf(call)).toBe("enough");
    expect(session.server.received).toHaveLength(1);
  });
});
