import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isApiError, type PetstoreClient } from "../../client/src/index.ts";
import { dayMs, minuteMs } from "../../src/domain/values/times.ts";
import { ManualClock, runToCompletion } from "../support/client/manual-clock.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { StockedService } from "../support/client/stocked-service.ts";

const listTimes = (client: PetstoreClient, count: number) =>
  Promise.all(Array.from({ length: count }, () => client.listInventory()));

let stocked: StockedService;
beforeAll(async () => {
  stocked = await StockedService.start();
});
afterAll(() => stocked[Symbol.asyncDispose]());

test("200 parallel calls with a Free key succeed without a 429, a strike or a ban", async () => {
  using session = await stocked.openSession();
  const startMs = session.clock.now();
  const calls = Array.from({ length: 200 }, (_, at) => {
    if (at % 3 === 0) return session.client.updateInventory(1n, { quantity: at });
    return at % 3 === 1 ? session.client.listInventory() : session.client.getPet(1n);
  });
  expect(await session.run(Promise.all(calls))).toHaveLength(200);
  // The service admitted every request that was sent, so there was no 429 and no strike.
  expect(session.recorder.exchanges).toHaveLength(200);
  expect(session.recorder.count(429)).toBe(0);
  expect(await stocked.readUsage(session.keyId)).toEqual({ admitted: 200, bans: 0 });
  // At sixty a minute, the last twenty are sent in the fourth minute.
  expect(session.clock.now() - startMs).toBeLessThanOrEqual(4 * minuteMs);
});

test("parallel calls succeed without a 429 if the client's clock is an hour fast or slow", async () => {
  for (const skewMs of [-3_600_000, 3_600_000]) {
    using session = await stocked.openSession();
    const clock = new ManualClock(stocked.service.clock, skewMs);
    await runToCompletion(clock, session.recorder, listTimes(session.createClient({ clock }), 130));
    expect(session.recorder.exchanges).toHaveLength(130);
    expect(await stocked.readUsage(session.keyId)).toEqual({ admitted: 130, bans: 0 });
  }
});

test("five independent clients share a key without a ban", async () => {
  using session = await stocked.openSession();
  const clients = Array.from({ length: 5 }, () => session.createClient());
  await session.run(Promise.all(clients.map((client) => listTimes(client, 40))));
  // They get 429 responses, but in bursts that are too short to count as strikes.
  expect(session.recorder.count(429)).toBeGreaterThan(0);
  expect(await stocked.readUsage(session.keyId)).toEqual({ admitted: 200, bans: 0 });
});

test("if another program exhausts the window, the client gets one 429 and waits", async () => {
  using session = await stocked.openSession();
  const windowEndMs = Math.ceil((session.clock.now() + 1) / minuteMs) * minuteMs;
  for (let count = 0; count < 60; count++) {
    await stocked.service.call("GET", "/inventory", { key: session.apiKey });
  }
  expect(await session.run(listTimes(session.client, 10))).toHaveLength(10);
  expect(session.recorder.count(429)).toBe(1);
  expect(session.recorder.exchanges).toHaveLength(11);
  expect(session.clock.now()).toBeGreaterThanOrEqual(windowEndMs);
});

test("if the daily limit is exhausted, a call fails immediately instead of waiting for midnight", async () => {
  using session = await stocked.openSession({ perMinute: 60, perDay: 2 });
  const startMs = session.clock.now();
  const outcomes = await session.run(
    Promise.allSettled(Array.from({ length: 3 }, () => session.client.listInventory())),
  );
  expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  const error = await rejectionOf(session.client.listInventory());
  expect(isApiError(error) && error.code).toBe("rate_limit_exceeded");
  expect(isApiError(error) && [error.status, error.requestId, error.retryAfter]).toEqual([
    429,
    undefined,
    Math.ceil((dayMs - (startMs % dayMs)) / 1000),
  ]);
  expect(session.clock.now()).toBe(startMs);
  expect(session.recorder.exchanges).toHaveLength(2);
});

describe("a ban caused by another program", () => {
  test("is reported with its duration, and a call with enough time waits for its end", async () => {
    using session = await stocked.openSession({ perMinute: 1, perDay: 1000 });
    await causeBan(session.apiKey);
    const error = await rejectionOf(session.client.listInventory({ retryForMs: 60_000 }));
    expect(isApiError(error) && error).toHaveProperty("code", "key_banned");
    expect(isApiError(error) && error.retryAfter).toBe(300);
    // The client knows the end of the ban from that response and sends nothing until then.
    const next = await rejectionOf(session.client.listInventory({ retryForMs: 60_000 }));
    expect(isApiError(next) && next.requestId).toBeUndefined();
    expect(await session.run(session.client.listInventory({ retryForMs: 400_000 }))).toHaveLength(
      3,
    );
    expect(session.recorder.exchanges.map(({ status }) => status)).toEqual([429, 200]);
  });

  async function causeBan(key: string): Promise<void> {
    const request = () => stocked.service.call("GET", "/inventory", { key });
    await request();
    await request();
    stocked.service.clock.advance(1001);
    for (let strike = 0; strike < 20; strike++) await request();
  }
});

test("limits returns the rate limit of the last response", async () => {
  using session = await stocked.openSession();
  const windowEndMs = (Math.floor(session.clock.now() / minuteMs) + 1) * minuteMs;
  expect(session.client.limits).toBeUndefined();
  await session.client.listInventory();
  await session.client.listInventory();
  expect(session.client.limits).toEqual({
    limit: 60,
    remaining: 58,
    resetsAt: new Date(windowEndMs),
  });
});

describe("an AbortSignal", () => {
  test("cancels the wait for the next window, and a call with an aborted signal sends nothing", async () => {
    using session = await stocked.openSession({ perMinute: 1, perDay: 1000 });
    await session.client.listInventory();
    const abort = new AbortController();
    const call = rejectionOf(session.client.listInventory({ signal: abort.signal }));
    abort.abort("enough");
    expect(await call).toBe("enough");
    expect(await rejectionOf(session.client.listInventory({ signal: abort.signal }))).toBe(
      "enough",
    );
    expect(session.recorder.exchanges).toHaveLength(1);
  });

  test("shared by many calls gets one listener and cancels all of them", async () => {
    using session = await stocked.openSession({ perMinute: 1, perDay: 1000 });
    await session.client.listInventory();
    const abort = new AbortController();
    let listeners = 0;
    const listen = abort.signal.addEventListener.bind(abort.signal);
    abort.signal.addEventListener = (type: string, listener: EventListener) => {
      listeners++;
      listen(type, listener);
    };
    const { signal } = abort;
    const calls = Array.from({ length: 50 }, () => session.client.listInventory({ signal }));
    abort.abort("enough");
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.every((outcome) => outcome.status === "rejected")).toBe(true);
    expect(listeners).toBe(1);
    expect(session.recorder.exchanges).toHaveLength(1);
  });
});
