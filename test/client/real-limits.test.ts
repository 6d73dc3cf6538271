import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isApiError, type PetstoreClient } from "../../client/src/index.ts";
import { dayMs, minuteMs } from "../../src/domain/limits.ts";
import { Shop } from "../support/client/shop.ts";
import { ManualClock, runOut } from "../support/client/timers.ts";

const failureOf = (work: Promise<unknown>) => work.catch((reason: unknown) => reason);
const listTimes = (client: PetstoreClient, count: number) =>
  Promise.all(Array.from({ length: count }, () => client.listInventory()));

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop[Symbol.asyncDispose]());

test("200 parallel calls with a Free key all succeed without a refusal, a strike or a ban", async () => {
  using it = await shop.enter();
  const begunAt = it.clock.now();
  const calls = Array.from({ length: 200 }, (_, at) => {
    if (at % 3 === 0) return it.client.updateInventory(1n, { quantity: at });
    return at % 3 === 1 ? it.client.listInventory() : it.client.getPet(1n);
  });
  expect(await it.run(Promise.all(calls))).toHaveLength(200);
  // As many were sent as the service says it admitted: none was refused, so none was a strike.
  expect(it.traffic.exchanges).toHaveLength(200);
  expect(it.traffic.count(429)).toBe(0);
  expect(await shop.account(it.keyId)).toEqual({ admitted: 200, bans: 0 });
  // Sixty a minute: the last twenty fall into the fourth.
  expect(it.clock.now() - begunAt).toBeLessThanOrEqual(4 * minuteMs);
});

test("the same holds when the client's clock is an hour off in either direction", async () => {
  for (const skewMs of [-3_600_000, 3_600_000]) {
    using it = await shop.enter();
    const clock = new ManualClock(shop.service.clock, skewMs);
    await runOut(clock, it.traffic, listTimes(it.connect({ clock }), 130));
    expect(it.traffic.exchanges).toHaveLength(130);
    expect(await shop.account(it.keyId)).toEqual({ admitted: 130, bans: 0 });
  }
});

test("five clients that know nothing of each other share a key without a ban", async () => {
  using it = await shop.enter();
  const clients = Array.from({ length: 5 }, () => it.connect());
  await it.run(Promise.all(clients.map((client) => listTimes(client, 40))));
  // They do run into refusals, in bursts that are too short to strike.
  expect(it.traffic.count(429)).toBeGreaterThan(0);
  expect(await shop.account(it.keyId)).toEqual({ admitted: 200, bans: 0 });
});

test("a window that another program used up costs one refusal and is waited out", async () => {
  using it = await shop.enter();
  const endsAt = Math.ceil((it.clock.now() + 1) / minuteMs) * minuteMs;
  for (let count = 0; count < 60; count++) {
    await shop.service.call("GET", "/inventory", { key: it.apiKey });
  }
  expect(await it.run(listTimes(it.client, 10))).toHaveLength(10);
  expect(it.traffic.count(429)).toBe(1);
  expect(it.traffic.exchanges).toHaveLength(11);
  expect(it.clock.now()).toBeGreaterThanOrEqual(endsAt);
});

test("a day that is used up fails at once instead of waiting for midnight", async () => {
  using it = await shop.enter({ perMinute: 60, perDay: 2 });
  const begunAt = it.clock.now();
  const outcomes = await it.run(
    Promise.allSettled(Array.from({ length: 3 }, () => it.client.listInventory())),
  );
  expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  const error = await failureOf(it.client.listInventory());
  expect(isApiError(error) && error.code).toBe("rate_limit_exceeded");
  expect(isApiError(error) && [error.status, error.requestId, error.retryAfter]).toEqual([
    429,
    undefined,
    Math.ceil((dayMs - (begunAt % dayMs)) / 1000),
  ]);
  expect(it.clock.now()).toBe(begunAt);
  expect(it.traffic.exchanges).toHaveLength(2);
});

describe("a ban that another program brought about", () => {
  test("is told with its length, and outlasted by a call that may take so long", async () => {
    using it = await shop.enter({ perMinute: 1, perDay: 1000 });
    await beBanned(it.apiKey);
    const error = await failureOf(it.client.listInventory({ retryForMs: 60_000 }));
    expect(isApiError(error) && error).toHaveProperty("code", "key_banned");
    expect(isApiError(error) && error.retryAfter).toBe(300);
    // The end of the ban is known from that answer: until then no other request leaves.
    const known = await failureOf(it.client.listInventory({ retryForMs: 60_000 }));
    expect(isApiError(known) && known.requestId).toBeUndefined();
    expect(await it.run(it.client.listInventory({ retryForMs: 400_000 }))).toHaveLength(3);
    expect(it.traffic.exchanges.map(({ status }) => status)).toEqual([429, 200]);
  });

  async function beBanned(key: string): Promise<void> {
    const ask = () => shop.service.call("GET", "/inventory", { key });
    await ask();
    await ask();
    shop.service.clock.advance(1001);
    for (let strike = 0; strike < 20; strike++) await ask();
  }
});

test("limits shows what the last answer said", async () => {
  using it = await shop.enter();
  const endsAt = (Math.floor(it.clock.now() / minuteMs) + 1) * minuteMs;
  expect(it.client.limits).toBeUndefined();
  await it.client.listInventory();
  await it.client.listInventory();
  expect(it.client.limits).toEqual({ limit: 60, remaining: 58, resetsAt: new Date(endsAt) });
});

describe("an AbortSignal", () => {
  test("ends the wait for the next window, and an aborted one sends nothing", async () => {
    using it = await shop.enter({ perMinute: 1, perDay: 1000 });
    await it.client.listInventory();
    const abort = new AbortController();
    const call = failureOf(it.client.listInventory({ signal: abort.signal }));
    abort.abort("enough");
    expect(await call).toBe("enough");
    expect(await failureOf(it.client.listInventory({ signal: abort.signal }))).toBe("enough");
    expect(it.traffic.exchanges).toHaveLength(1);
  });

  test("shared by many calls gets one listener, and ends them all", async () => {
    using it = await shop.enter({ perMinute: 1, perDay: 1000 });
    await it.client.listInventory();
    const abort = new AbortController();
    let listeners = 0;
    const listen = abort.signal.addEventListener.bind(abort.signal);
    abort.signal.addEventListener = (type: string, listener: EventListener) => {
      listeners++;
      listen(type, listener);
    };
    const { signal } = abort;
    const calls = Array.from({ length: 50 }, () => it.client.listInventory({ signal }));
    abort.abort("enough");
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.every((outcome) => outcome.status === "rejected")).toBe(true);
    expect(listeners).toBe(1);
    expect(it.traffic.exchanges).toHaveLength(1);
  });
});
