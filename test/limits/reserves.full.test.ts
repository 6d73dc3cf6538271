import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { digestOf } from "../../src/domain/keys/keyring.ts";
import { generateKeyId, scopes } from "../../src/domain/keys/keys.ts";
import type { BanRules, LimitDecision, Limiter } from "../../src/domain/limits/limits.ts";
import type { Limits } from "../../src/domain/limits/plans.ts";
import type { Store } from "../../src/domain/store.ts";
import type { SharedUsageStore } from "../../src/domain/usage/usage.ts";
import { createSharedLimiter } from "../../src/limits/shared.ts";
import { systemClock } from "../../src/opening/engines.ts";
import { openOrCreateStore } from "../../src/opening/stores.ts";
import { createDatabase, type Database } from "../../src/store/postgres/engine/database.ts";
import { createSharedUsage } from "../../src/store/postgres/usage.ts";
import { anEntry } from "../support/audit.ts";
import { createTestClock, type TestClock } from "../support/clock.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { until } from "../support/until.ts";

/** Requests that the shared rate limiter counts in advance for busy keys with large limits. */

const rules: BanRules = {
  ...{ graceMs: 1_000, strikesMin: 20, strikesDivisor: 10 },
  ...{ banMs: 300_000, banMsMax: 3_600_000, escalationMs: 86_400_000 },
};
const large = { perMinute: 60_000, perDay: 1_000_000_000 };
const minuteMs = 60_000;

interface Instance extends Limiter {
  /** What the limiter counts with. A test replaces its methods. */
  readonly usage: { -readonly [Name in keyof SharedUsageStore]: SharedUsageStore[Name] };
  /** How many statements the limiter has sent. */
  statements: number;
  readonly logged: string[];
}

let store: Store;
let database: Database;
let clock: TestClock;
/** Counts without a limiter. */
let counts: SharedUsageStore;
let instances: [Instance, Instance, Instance];
let key: string;

beforeAll(async () => {
  const url = await createdDatabase();
  store = await openOrCreateStore(readConfig({ database: url }, {}), systemClock);
  database = createDatabase(url);
});
afterAll(async () => {
  database.close();
  await store.close();
});
beforeEach(async () => {
  clock = createTestClock();
  counts = createSharedUsage(database.connection(5_000).query, clock);
  instances = [createInstance(), createInstance(), createInstance()];
  key = await issueKey();
});
afterEach(async () => {
  await Promise.all(instances.map((one) => one.close()));
});

function createInstance(): Instance {
  const connection = database.connection(5_000);
  const query: typeof connection.query = (text, values) => {
    instance.statements += 1;
    return connection.query(text, values);
  };
  const usage = { ...createSharedUsage(query, clock) };
  const logged: string[] = [];
  const log = (event: string) => void logged.push(event);
  const limiter = createSharedLimiter({ usage, rules, serverTime: { observe() {} }, log });
  const instance: Instance = { ...limiter, usage, statements: 0, logged };
  return instance;
}

async function issueKey(): Promise<string> {
  const id = generateKeyId();
  const times = { createdAt: 0, expiresAt: null, revokedAt: null };
  const limits = { perMinute: 1, perDay: 1 };
  await store.keys.addKey(
    { id, name: "test", plan: "free", limits, scopes, ...times },
    digestOf(id),
    anEntry,
  );
  return id;
}

async function takeMany(limiter: Limiter, times: number, limits: Limits = large) {
  return Promise.all(Array.from({ length: times }, async () => limiter.take(key, limits)));
}

const admitted = (decisions: readonly LimitDecision[]) =>
  decisions.filter(({ outcome }) => outcome === "admitted").length;

/** What the database has counted, with what is in reserve. */
async function counted(): Promise<{ minute: number; day: number }> {
  const found = await counts.take([{ keyId: key, limits: large, wanted: 0 }]);
  const { minuteCount: minute, dayCount: day } = found.get(key)!.usage;
  return { minute, day };
}

/** Sends requests until the database has counted more than were admitted. Returns those. */
async function fillReserve(instance: Instance, limits: Limits = large): Promise<number> {
  const { day: before } = await counted();
  let sent = 0;
  do {
    expect(admitted(await takeMany(instance, 100, limits))).toBe(100);
    sent += 100;
  } while ((await counted()).day - before === sent);
  return sent;
}

test("three limiters with reserves together admit no more than the limit, and nearly all of it", async () => {
  const limits = { perMinute: 30_000, perDay: 1_000_000_000 };
  let total = 0;
  for (const instance of instances) total += await fillReserve(instance, limits);
  // Most of the minute is used at once, so that few requests reach its end.
  const rest = 300;
  const wanted = limits.perMinute - (await counted()).minute - rest;
  await counts.take([{ keyId: key, limits, wanted }]);
  total += wanted;
  const decisions = await Promise.all(instances.map((one) => takeMany(one, rest, limits)));
  const more = admitted(decisions.flat());
  total += more;
  expect(total).toBeLessThanOrEqual(limits.perMinute);
  // What is left is in the reserve of an instance.
  expect(total).toBeGreaterThan(limits.perMinute - (3 * limits.perMinute) / 1_000);
  expect(more).toBeGreaterThan(rest);
  // Requests that nobody used may be used by others.
  await Promise.all(instances.map((one) => one.close()));
  expect((await counted()).minute).toBe(total);
});

test("the remaining requests decrease by one with each request, and most requests send no statement", async () => {
  const [instance] = instances;
  const decisions: LimitDecision[] = [];
  for (let round = 0; round < 100; round++) {
    decisions.push(...(await takeMany(instance, 10)));
    // Statements run beside requests that are admitted from the reserve.
    if (round % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const left = decisions.map(({ minute }) => large.perMinute - minute.remaining);
  expect(left.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1_000 }, (_, at) => at + 1));
  expect(instance.statements).toBeLessThan(200);
  await instance.close();
  expect(await counted()).toEqual({ minute: 1_000, day: 1_000 });
});

test("a reserve that is not used is returned after a while", async () => {
  const [instance] = instances;
  const sent = await fillReserve(instance);
  await until(async () => (await counted()).minute === sent, 5_000, "the return");
  // The same limiter goes on with the right number.
  expect((await instance.take(key, large)).minute.remaining).toBe(large.perMinute - sent - 1);
});

test("a single request after a second of rest makes no reserve", async () => {
  const [instance] = instances;
  const sent = await fillReserve(instance);
  await until(async () => (await counted()).minute === sent, 5_000, "the return");
  const { statements } = instance;
  await instance.take(key, large);
  expect((await counted()).minute).toBe(sent + 1);
  expect(instance.statements).toBe(statements + 1);
});

test("a reserve cannot be used after its minute, and its requests are returned to the day", async () => {
  const [instance] = instances;
  const sent = await fillReserve(instance);
  clock.advance(minuteMs);
  const next = await instance.take(key, large);
  expect(next.minute.remaining).toBe(large.perMinute - 1);
  const more = (await fillReserve(instance)) + 1;
  // Two reserves are returned at once: one of each minute.
  await instance.close();
  expect(await counted()).toEqual({ minute: more, day: sent + more });
});

test.each([
  { perMinute: 7_999, perDay: 1_000_000_000 },
  { perMinute: 60_000, perDay: 7_999 },
])("a key with a limit below 8,000 has no reserve: %p", async (limits) => {
  let sent = 0;
  for (let round = 0; round < 4; round++) {
    for (const instance of instances) {
      const decisions = await takeMany(instance, 50, limits);
      sent += 50;
      expect(decisions.at(-1)!.minute.remaining).toBe(limits.perMinute - sent);
      expect((await counted()).minute).toBe(sent);
    }
  }
});

test("a lowered limit applies although there is a reserve", async () => {
  const [instance] = instances;
  const sent = await fillReserve(instance);
  const limits = { perMinute: sent + 3, perDay: 1_000_000 };
  instance.refresh();
  expect(admitted(await takeMany(instance, 20, limits))).toBe(3);
  instance.refresh();
  expect(admitted(await takeMany(instance, 20, { ...limits, perMinute: 1 }))).toBe(0);
  await instance.close();
  expect((await counted()).minute).toBe(sent + 3);
});

test("a ban by another instance applies although there is a reserve", async () => {
  const [instance] = instances;
  const sent = await fillReserve(instance);
  const at = clock.now();
  await counts.addStrikes([{ keyId: key, minute: at, count: 1 }]);
  expect(await counts.startBan(key, at, at + rules.banMs, 0)).toBe(true);
  instance.refresh();
  expect((await takeMany(instance, 20)).map(({ outcome }) => outcome)).toEqual(
    Array(20).fill("banned"),
  );
  await instance.close();
  expect((await counted()).minute).toBe(sent);
});

test("a clock that goes back does not reopen the window of a reserve", async () => {
  const [instance] = instances;
  const sent = await fillReserve(instance);
  clock.advance(-2 * minuteMs);
  const left = (await takeMany(instance, 100)).map(({ minute }) => minute.remaining);
  expect(Math.min(...left)).toBe(large.perMinute - sent - 100);
  await instance.close();
  expect((await counted()).minute).toBe(sent + 100);
});

test("while requests cannot be counted, only those in reserve are admitted", async () => {
  const [instance] = instances;
  const sent = await fillReserve(instance);
  const reserved = (await counted()).minute - sent;
  const { take } = instance.usage;
  instance.usage.take = () => Promise.reject(new Error("no connection"));
  const results = await Promise.allSettled(
    Array.from({ length: 200 }, async () => instance.take(key, large)),
  );
  const fulfilled = results.filter(({ status }) => status === "fulfilled").length;
  expect(fulfilled).toBe(reserved);
  instance.usage.take = take;
  expect((await instance.take(key, large)).minute.remaining).toBe(
    large.perMinute - sent - reserved - 1,
  );
});

test("a reserve that cannot be returned is logged, and the limiter closes", async () => {
  const [instance] = instances;
  await fillReserve(instance);
  const { minute } = await counted();
  instance.usage.giveBack = () => Promise.reject(new Error("no connection"));
  await instance.close();
  await instance.close();
  // It may have been returned, so it is not returned again.
  expect((await counted()).minute).toBe(minute);
  expect(instance.logged).toEqual(["task failed"]);
});

test("a reserve that becomes idle while a slow statement adds to it is neither lost nor returned twice", async () => {
  const [instance, idle] = instances;
  const sent = await fillReserve(instance);
  const { take } = instance.usage;
  const slow = Promise.withResolvers<void>();
  const executed = Promise.withResolvers<void>();
  instance.usage.take = async (requests) => {
    const found = await take(requests);
    executed.resolve();
    await slow.promise;
    return found;
  };
  const reserved = (await counted()).minute - sent;
  const waiting = takeMany(instance, reserved + 200);
  await executed.promise;
  // The other limiter looks for idle reserves at the same times.
  const others = await fillReserve(idle);
  const returned = Promise.withResolvers<void>();
  const { giveBack } = idle.usage;
  idle.usage.giveBack = (list) => giveBack(list).then(returned.resolve);
  await returned.promise;
  slow.resolve();
  expect(admitted(await waiting)).toBe(reserved + 200);
  await Promise.all([instance.close(), idle.close()]);
  expect((await counted()).minute).toBe(sent + reserved + 200 + others);
});
