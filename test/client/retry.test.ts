import { describe, expect, test } from "bun:test";
import {
  type ClientOptions,
  isApiError,
  isNetworkError,
  isTimeoutError,
  PetstoreClient,
} from "../../client/src/index.ts";
import { ManualClock, runOut, Traffic } from "./clock.ts";
import { apiKey, refuse, ScriptedService } from "./service.ts";

const start = Date.parse("2026-11-15T10:00:20Z");
const unavailable = () => refuse(503, "unavailable", "Busy");

function setUp(options: Partial<ClientOptions> = {}) {
  const clock = new ManualClock(start);
  const traffic = new Traffic();
  const service = new ScriptedService({ now: () => clock.now() });
  const { baseUrl } = service;
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
    service,
    run,
    fails,
    traffic,
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
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
      it.service.interject(() => {
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
    it.service.interject(() => refuse(503, "unavailable", "Busy", { "retry-after": "9" }));
    await it.run(it.client.listInventory());
    expect(it.clock.now() - start).toBe(9000);
  });

  test("gives the last refusal when the attempts are spent", async () => {
    await using it = setUp({ attemptsMax: 3 });
    it.service.interject(unavailable, unavailable, unavailable);
    const error = await it.fails(it.client.listInventory());
    expect(isApiError(error) && error).toMatchObject({ code: "unavailable", status: 503 });
    expect(it.service.received).toHaveLength(3);
  });

  test("begins no attempt after the time for the call is spent", async () => {
    await using it = setUp({ retryForMs: 5000 });
    it.service.interject(() => refuse(503, "unavailable", "Busy", { "retry-after": "6" }));
    const error = await it.fails(it.client.listInventory());
    expect(isApiError(error) && error).toMatchObject({ code: "unavailable", retryAfter: 6 });
    expect(it.clock.now()).toBe(start);
  });

  test("is tried again when the connection is refused, is cut, or the answer breaks off", async () => {
    using silent = cutOff("");
    using partial = cutOff("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n[");
    await using it = setUp();
    const { baseUrl } = it.service;
    const detours = [deadUrl(), silent.baseUrl, partial.baseUrl];
    const client = new PetstoreClient({
      baseUrl,
      apiKey,
      clock: it.clock,
      fetch: (url, init) =>
        it.traffic.fetch(url.replace(baseUrl, detours.shift() ?? baseUrl), init),
    });
    expect(await it.run(client.listInventory())).toHaveLength(3);
    expect(detours).toEqual([]);
    expect(it.service.received).toHaveLength(1);
  });

  test("is a NetworkError when the connection fails every time", async () => {
    await using it = setUp({ baseUrl: deadUrl(), attemptsMax: 2 });
    const error = await it.fails(it.client.listInventory());
    expect(isNetworkError(error)).toBe(true);
    expect(String(error)).not.toContain(apiKey);
  });
});

describe("a refusal that is final", () => {
  test("is given at once, with code, status, request id and message", async () => {
    await using it = setUp();
    const error = await it.fails(it.client.updateInventory(5, { quantity: 1 }));
    expect(isApiError(error) && error).toMatchObject({
      name: "ApiError",
      code: "not_found",
      status: 404,
      requestId: "request-1",
      message: "No such pet",
      retryAfter: undefined,
    });
    expect(it.service.received).toHaveLength(1);
  });

  test("is an unexpected_answer when it does not come from the service", async () => {
    await using it = setUp();
    it.service.interject(() => new Response("<h1>Bad gateway</h1>", { status: 502 }));
    const error = await it.fails(it.client.listInventory());
    expect(isApiError(error) && error).toMatchObject({ code: "unexpected_answer", status: 502 });
    expect(String(error)).toContain("Bad gateway");
  });
});

describe("an attempt without an answer", () => {
  test("ends at its timeout, is tried again, and is a TimeoutError in the end", async () => {
    const clock = new ManualClock(start);
    await using service = new ScriptedService({ now: () => clock.now() });
    const { promise: never } = Promise.withResolvers<Response>();
    const arrivals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    for (const arrival of arrivals) {
      service.interject(() => {
        arrival.resolve();
        return never;
      });
    }
    const { baseUrl } = service;
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
    const clock = new ManualClock(start);
    await using service = new ScriptedService({ now: () => clock.now() });
    service.interject(
      () => new Response(new ReadableStream({ start: (stream) => stream.enqueue("[") })),
    );
    const begun = Promise.withResolvers<void>();
    const client = new PetstoreClient({
      baseUrl: service.baseUrl,
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
  const clock = new ManualClock(start);
  await using service = new ScriptedService({ now: () => clock.now() });
  const arrived = Promise.withResolvers<void>();
  const { promise: held, resolve: release } = Promise.withResolvers<Response>();
  service.interject(() => {
    arrived.resolve();
    return held;
  });
  const client = new PetstoreClient({ baseUrl: service.baseUrl, apiKey, clock, parallelMax: 1 });
  const first = client.listInventory();
  const second = client.listInventory({ retryForMs: 2000 }).catch((reason: unknown) => reason);
  await arrived.promise;
  clock.advanceTo(start + 2000);
  expect(isTimeoutError(await second)).toBe(true);
  release(new Response("[]"));
  expect(await first).toEqual([]);
  expect(service.received).toHaveLength(1);
});

describe("an AbortSignal", () => {
  test("ends a request on its way with its own reason", async () => {
    await using service = new ScriptedService();
    const abort = new AbortController();
    service.interject(() => {
      abort.abort("enough");
      return new Promise<Response>(() => {});
    });
    const client = new PetstoreClient({ baseUrl: service.baseUrl, apiKey });
    await expect(client.listInventory({ signal: abort.signal })).rejects.toBe("enough");
  });

  test("ends a pause between attempts", async () => {
    await using it = setUp();
    const abort = new AbortController();
    it.service.interject(() => {
      queueMicrotask(() => it.traffic.idle().then(() => abort.abort("enough")));
      return refuse(503, "unavailable", "Busy", { "retry-after": "60" });
    });
    const call = it.client.listInventory({ signal: abort.signal });
    expect(await call.catch((reason: unknown) => reason)).toBe("enough");
    expect(it.service.received).toHaveLength(1);
  });

  test("ends the wait for the next window, and an aborted one sends nothing", async () => {
    await using service = new ScriptedService({ now: () => start, perMinute: 1 });
    const client = new PetstoreClient({ baseUrl: service.baseUrl, apiKey });
    await client.listInventory();
    const abort = new AbortController();
    const call = client.listInventory({ signal: abort.signal });
    abort.abort("enough");
    expect(await call.catch((reason: unknown) => reason)).toBe("enough");
    const late = client.listInventory({ signal: abort.signal });
    expect(await late.catch((reason: unknown) => reason)).toBe("enough");
    expect(service.received).toHaveLength(1);
  });

  test("shared by many calls gets one listener, and ends them all", async () => {
    await using service = new ScriptedService({ now: () => start, perMinute: 1 });
    const client = new PetstoreClient({ baseUrl: service.baseUrl, apiKey });
    await client.listInventory();
    const abort = new AbortController();
    let listeners = 0;
    const listen = abort.signal.addEventListener.bind(abort.signal);
    abort.signal.addEventListener = (type: string, listener: EventListener) => {
      listeners++;
      listen(type, listener);
    };
    const { signal } = abort;
    const calls = Array.from({ length: 50 }, () => client.listInventory({ signal }));
    abort.abort("enough");
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.every((outcome) => outcome.status === "rejected")).toBe(true);
    expect(listeners).toBe(1);
    expect(service.received).toHaveLength(1);
  });
});
