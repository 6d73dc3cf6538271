import { describe, expect, test } from "bun:test";
import {
  type ClientOptions,
  isApiError,
  isNetworkError,
  isTimeoutError,
  PetstoreClient,
} from "../../client/src/index.ts";
import { Traffic } from "../support/client/load.ts";
import { apiKey, refuse, ScriptedServer } from "../support/client/scripted-server.ts";
import { ManualClock, runOut } from "../support/client/timers.ts";
import { createTestClock } from "../support/clock.ts";

const start = Date.parse("2026-11-15T10:00:20Z");
const unavailable = () => refuse(503, "unavailable", "Busy");

function setUp(options: Partial<ClientOptions> = {}) {
  const clock = new ManualClock(createTestClock(start));
  const traffic = new Traffic();
  const server = new ScriptedServer();
  const { baseUrl } = server;
  const client = new PetstoreClient({ baseUrl, apiKey, clock, fetch: traffic.fetch, ...options });
  const run = <T>(work: Promise<T>) => runOut(clock, traffic, work);
  const fails = (work: Promise<unknown>) =>
    run(
      work.then(
        () => undefined,
        (reason: unknown) => reason,
      ),
    );
  return {
    clock,
    client,
    server,
    run,
    fails,
    traffic,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** An address where each connection gets that text, whatever it asks, and is then cut. */
function cutOff(text: string) {
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

/** An address that nothing listens on. */
function deadUrl(): string {
  using server = cutOff("");
  return server.baseUrl;
}

describe("a call that fails for the moment", () => {
  test("is tried again after a pause that doubles, with full jitter", async () => {
    await using it = setUp({ random: () => 0.5 });
    const times: number[] = [];
    for (let count = 0; count < 4; count++) {
      it.server.play(() => {
        times.push(it.clock.now() - start);
        return unavailable();
      });
    }
    await it.run(it.client.listInventory());
    expect(times).toEqual([0, 125, 375, 875]);
    expect(it.clock.now() - start).toBe(1875);
  });

  test("is never tried again before Retry-After, whatever the jitter", async () => {
    await using it = setUp({ random: () => 0 });
    it.server.play(() => refuse(503, "unavailable", "Busy", { "retry-after": "9" }));
    await it.run(it.client.listInventory());
    expect(it.clock.now() - start).toBe(9000);
  });

  test("gives the last refusal when the attempts are spent", async () => {
    await using it = setUp({ attemptsMax: 3 });
    it.server.play(unavailable, unavailable, unavailable);
    const error = await it.fails(it.client.listInventory());
    expect(isApiError(error) && error).toMatchObject({ code: "unavailable", status: 503 });
    expect(it.server.received).toHaveLength(3);
  });

  test("begins no attempt after the time for the call is spent", async () => {
    await using it = setUp({ retryForMs: 5000 });
    it.server.play(() => refuse(503, "unavailable", "Busy", { "retry-after": "6" }));
    const error = await it.fails(it.client.listInventory());
    expect(isApiError(error) && error).toMatchObject({ code: "unavailable", retryAfter: 6 });
    expect(it.clock.now()).toBe(start);
  });

  test("is tried again when the connection is refused, is cut, or the answer breaks off", async () => {
    using silent = cutOff("");
    using partial = cutOff("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n[");
    await using it = setUp();
    const { baseUrl } = it.server;
    const detours = [deadUrl(), silent.baseUrl, partial.baseUrl];
    const client = new PetstoreClient({
      baseUrl,
      apiKey,
      clock: it.clock,
      fetch: (url, init) =>
        it.traffic.fetch(url.replace(baseUrl, detours.shift() ?? baseUrl), init),
    });
    expect(await it.run(client.listInventory())).toEqual([]);
    expect(detours).toEqual([]);
    expect(it.server.received).toHaveLength(1);
  });

  test("is a NetworkError when the connection fails every time", async () => {
    await using it = setUp({ baseUrl: deadUrl(), attemptsMax: 2 });
    const error = await it.fails(it.client.listInventory());
    expect(isNetworkError(error)).toBe(true);
    expect(String(error)).not.toContain(apiKey);
  });
});

test("after a 429 no call is sent before Retry-After, also none that came later", async () => {
  await using it = setUp({ random: () => 0 });
  const sentAt: number[] = [];
  for (const [code, seconds] of [
    ["rate_limit_exceeded", "17"],
    ["key_banned", "90"],
  ] as const) {
    it.server.play(() => {
      sentAt.push(it.clock.now() - start);
      return refuse(429, code, "Wait", { "retry-after": seconds });
    });
  }
  await it.run(Promise.all([it.client.listInventory(), it.client.listInventory()]));
  expect(sentAt).toEqual([0, 17_000]);
  expect(it.clock.now() - start).toBe(107_000);
  expect(it.server.received).toHaveLength(4);
});

describe("an attempt without an answer", () => {
  test("ends at its timeout, is tried again, and is a TimeoutError in the end", async () => {
    const clock = new ManualClock(createTestClock(start));
    await using server = new ScriptedServer();
    const { promise: never } = Promise.withResolvers<Response>();
    const arrivals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    for (const arrival of arrivals) {
      server.play(() => {
        arrival.resolve();
        return never;
      });
    }
    const { baseUrl } = server;
    const options = { baseUrl, apiKey, clock, timeoutMs: 4000, attemptsMax: 2, backoffBaseMs: 0 };
    const call = new PetstoreClient(options).listInventory().catch((reason: unknown) => reason);
    await arrivals[0]?.promise;
    const pausing = clock.nextSleep();
    clock.advanceTo(start + 4000);
    await pausing;
    clock.advanceTo(start + 4000);
    await arrivals[1]?.promise;
    clock.advanceTo(start + 8000);
    expect(isTimeoutError(await call)).toBe(true);
  });

  test("ends at its timeout also when only the body is missing", async () => {
    const clock = new ManualClock(createTestClock(start));
    await using server = new ScriptedServer();
    server.play(() => new Response(new ReadableStream({ start: (stream) => stream.enqueue("[") })));
    const begun = Promise.withResolvers<void>();
    const client = new PetstoreClient({
      baseUrl: server.baseUrl,
      apiKey,
      clock,
      attemptsMax: 1,
      timeoutMs: 4000,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        begun.resolve();
        return response;
      },
    });
    const call = client.listInventory().catch((reason: unknown) => reason);
    await begun.promise;
    clock.advanceTo(start + 4000);
    expect(isTimeoutError(await call)).toBe(true);
  });
});

test("a call that gets no turn to be sent within its time is a TimeoutError", async () => {
  const clock = new ManualClock(createTestClock(start));
  await using server = new ScriptedServer();
  const arrived = Promise.withResolvers<void>();
  const { promise: held, resolve: release } = Promise.withResolvers<Response>();
  server.play(() => {
    arrived.resolve();
    return held;
  });
  const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey, clock, parallelMax: 1 });
  const first = client.listInventory();
  const second = client.listInventory({ retryForMs: 2000 }).catch((reason: unknown) => reason);
  await arrived.promise;
  clock.advanceTo(start + 2000);
  expect(isTimeoutError(await second)).toBe(true);
  release(new Response("[]"));
  expect(await first).toEqual([]);
  expect(server.received).toHaveLength(1);
});

describe("an AbortSignal", () => {
  test("that times out ends the call with its own reason, which is not the client's TimeoutError", async () => {
    await using server = new ScriptedServer();
    server.play(() => new Promise<Response>(() => {}));
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
    const reason = await client
      .listInventory({ signal: AbortSignal.timeout(1) })
      .catch((reason: unknown) => reason);
    expect(reason).toBeInstanceOf(DOMException);
    expect(isTimeoutError(reason)).toBe(false);
  });

  test("ends a request on its way with its own reason", async () => {
    await using server = new ScriptedServer();
    const abort = new AbortController();
    server.play(() => {
      abort.abort("enough");
      return new Promise<Response>(() => {});
    });
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
    await expect(client.listInventory({ signal: abort.signal })).rejects.toBe("enough");
  });

  test("ends a pause between attempts", async () => {
    await using it = setUp();
    const abort = new AbortController();
    it.server.play(() => {
      queueMicrotask(() => it.traffic.idle().then(() => abort.abort("enough")));
      return refuse(503, "unavailable", "Busy", { "retry-after": "60" });
    });
    const call = it.client.listInventory({ signal: abort.signal });
    expect(await call.catch((reason: unknown) => reason)).toBe("enough");
    expect(it.server.received).toHaveLength(1);
  });
});
