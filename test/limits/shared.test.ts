import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { digestOf } from "../../src/domain/keys/keyring.ts";
import { generateKeyId, scopes } from "../../src/domain/keys/keys.ts";
import type { BanRules, LimitDecision, Limiter } from "../../src/domain/limits/limits.ts";
import type { Limits } from "../../src/domain/limits/plans.ts";
import type { Store } from "../../src/domain/store.ts";
import { createSharedLimiter } from "../../src/limits/shared.ts";
import { createDatabase, type Database } from "../../src/store/postgres/engine/database.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { createSharedUsage } from "../../src/store/postgres/usage.ts";
import { anEntry } from "../support/audit.ts";
import { createTestClock, type TestClock } from "../support/clock.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { until } from "../support/until.ts";

const rules: BanRules = {
  ...{ graceMs: 1_000, strikesMin: 20, strikesDivisor: 10 },
  ...{ banMs: 300_000, banMsMax: 3_600_000, escalationMs: 86_400_000 },
};

let url: string;
let store: Store;
let clock: TestClock;
let limiters: Limiter[] = [];
const databases: Database[] = [];
/** The number of statements that all limiters have sent. */
let statements = 0;
/** Those of them that the database has not answered. */
let unanswered = 0;

beforeAll(async () => {
  url = await (await sharedPostgres()).freshDatabase();
  const environment = "production";
  const now = () => clock.now();
  store = await openPostgres({
    ...{ database: createDatabase(url), environment, patienceMs: 0 },
    clock: { now, elapsedMs: now },
  });
});
afterAll(async () => {
  for (const database of databases) database.close();
  await store.close();
});

beforeEach(() => {
  clock = createTestClock();
  statements = 0;
  limiters = [1, 2, 3].map(() => {
    const database = createDatabase(url);
    databases.push(database);
    const connection = database.connection(5_000);
    const query: typeof connection.query = (text, values) => {
      statements += 1;
      unanswered += 1;
      return connection.query(text, values).finally(() => {
        unanswered -= 1;
      });
    };
    const usage = createSharedUsage(query, clock);
    return createSharedLimiter({ usage, rules, serverTime: { observe() {} }, log: () => {} });
  });
});

// Strikes of one test that are still pending must not count among the next one's statements.
afterEach(() => Promise.all(limiters.map((limiter) => limiter.close())));

async function issueKey(): Promise<string> {
  const id = generateKeyId();
  const limits = { perMinute: 1, perDay: 1 };
  const times = { createdAt: 0, expiresAt: null, revokedAt: null };
  await store.keys.addKey(
    { id, name: "test", plan: "free", limits, scopes, ...times },
    digestOf(id),
    anEntry,
  );
  return id;
}

async function takeMany(limiter: Limiter, key: string, limits: Limits, times: number) {
  return Promise.all(Array.from({ length: times }, async () => limiter.take(key, limits)));
}

const admitted = (decisions: readonly LimitDecision[]) =>
  decisions.filter(({ outcome }) => outcome === "admitted").length;

test("three limiters together admit exactly the limit of every minute", async () => {
  const key = await issueKey();
  const limits = { perMinute: 100, perDay: 100_000 };
  const perWindow = new Map<number, number>();
  const rounds = limiters.map(() => 0);
  /** Each other limiter has ended every statement that it sent before the last minute ended. */
  let roundsThen = [...rounds];
  const isOver = () =>
    rounds.every((count, at) => at === 0 || count >= Math.min(40, roundsThen[at]! + 2));
  const load = limiters.map(async (limiter, index) => {
    for (let round = 0; round < 40; round++) {
      for (const decision of await takeMany(limiter, key, limits, 20 + index)) {
        if (decision.outcome !== "admitted") continue;
        const { resetAt } = decision.minute;
        perWindow.set(resetAt, (perWindow.get(resetAt) ?? 0) + 1);
      }
      rounds[index]! += 1;
      // The minute ends in the middle of the load, while statements are running. No statement runs for
      // two minutes: the limiter would take that for a clock that was set back.
      if (index === 0 && round % 13 === 12) {
        await until(isOver, 6_000, "the statements of the last minute");
        roundsThen = [...rounds];
        clock.advance(60_000);
      }
    }
  });
  await Promise.all(load);
  // The load in the last minute is below the limit, so the rest is sent first.
  for (const decision of await takeMany(limiters[0]!, key, limits, 100)) {
    if (decision.outcome === "admitted") {
      perWindow.set(decision.minute.resetAt, perWindow.get(decision.minute.resetAt)! + 1);
    }
  }
  expect([...perWindow.values()]).toEqual([100, 100, 100, 100]);
});

test("three limiters together admit exactly the limit of a day", async () => {
  const key = await issueKey();
  const limits = { perMinute: 50, perDay: 120 };
  let total = 0;
  for (let minute = 0; minute < 4; minute++) {
    const decisions = await Promise.all(limiters.map((one) => takeMany(one, key, limits, 40)));
    total += admitted(decisions.flat());
    clock.advance(60_000);
  }
  expect(total).toBe(120);
  clock.advance(86_400_000);
  expect(admitted(await takeMany(limiters[1]!, key, limits, 60))).toBe(50);
});

test("the remaining requests decrease by one with each request to any limiter", async () => {
  const key = await issueKey();
  const limits = { perMinute: 30, perDay: 1_000 };
  const decisions = await Promise.all(limiters.map((one) => takeMany(one, key, limits, 10)));
  const left = decisions.flat().map(({ binding }) => binding.remaining);
  expect(left.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, at) => at));
});

test("a clock that goes back does not reopen a window", async () => {
  const key = await issueKey();
  const limits = { perMinute: 5, perDay: 1_000 };
  expect(admitted(await takeMany(limiters[0]!, key, limits, 5))).toBe(5);
  clock.advance(-120_000);
  expect(admitted(await takeMany(limiters[1]!, key, limits, 5))).toBe(0);
});

test("another instance's clock that is ahead does not admit more requests", async () => {
  const key = await issueKey();
  const limits = { perMinute: 5, perDay: 1_000 };
  expect(admitted(await takeMany(limiters[0]!, key, limits, 3))).toBe(3);
  const database = createDatabase(url);
  databases.push(database);
  const ahead = createSharedUsage(database.connection(5_000).query, {
    ...clock,
    now: () => clock.now() + 60_000,
  });
  await ahead.addStrikes([{ keyId: key, minute: 0, count: 0 }]);
  expect(admitted(await takeMany(limiters[0]!, key, limits, 10))).toBe(2);
});

test("requests that arrive together are counted by one statement", async () => {
  const keys = await Promise.all(Array.from({ length: 8 }, issueKey));
  const limits = { perMinute: 100, perDay: 1_000 };
  await Promise.all(keys.map((key) => takeMany(limiters[0]!, key, limits, 10)));
  expect(statements).toBeLessThanOrEqual(2);
});

test("requests rejected in a window known to be exhausted send no statement", async () => {
  const key = await issueKey();
  const limits = { perMinute: 5, perDay: 1_000 };
  await takeMany(limiters[0]!, key, limits, 6);
  const before = statements;
  expect(admitted(await takeMany(limiters[0]!, key, limits, 1_000))).toBe(0);
  expect(statements).toBe(before);
});

/** A timer sends strikes. Resolves when the database has this many of a key, and no limiter acts on them. */
async function untilStrikes(key: string, count: number): Promise<void> {
  const database = createDatabase(url);
  databases.push(database);
  const { query } = database.connection(5_000);
  const areCounted = async () => {
    const [row] = await query("SELECT strikes FROM standings WHERE key_id = $1", [key]);
    return Number(row?.[0]) === count && unanswered === 0;
  };
  await until(areCounted, 5_000, `${count} strikes`);
}

test("strikes on three limiters add up to one ban, in force on all of them", async () => {
  const key = await issueKey();
  const limits = { perMinute: 5, perDay: 1_000 };
  await takeMany(limiters[0]!, key, limits, 6);
  for (const limiter of limiters) await takeMany(limiter, key, limits, 1);
  clock.advance(1_001);
  // 18 strikes, 6 on each limiter: two short of a ban in total.
  for (const limiter of limiters) await takeMany(limiter, key, limits, 6);
  await untilStrikes(key, 18);
  expect((await store.usage.loadBans()).filter(({ keyId }) => keyId === key)).toEqual([]);
  await takeMany(limiters[0]!, key, limits, 1);
  await takeMany(limiters[1]!, key, limits, 1);
  const areBanned = async () => {
    const decisions = await Promise.all(limiters.map((one) => one.take(key, limits)));
    return decisions.every(({ outcome }) => outcome === "banned");
  };
  await until(areBanned, 6_000, "the ban on all limiters");
  const bans = (await store.usage.loadBans()).filter(({ keyId }) => keyId === key);
  expect(bans.map(({ startedAt, until }) => until - startedAt)).toEqual([300_000]);
});

test("strikes start a ban in their minute, also if they are counted after its end", async () => {
  const key = await issueKey();
  const limits = { perMinute: 5, perDay: 1_000 };
  await takeMany(limiters[0]!, key, limits, 6);
  const end = clock.now() + 60_000;
  clock.advance(1_001);
  await takeMany(limiters[0]!, key, limits, 19);
  const last = limiters[0]!.take(key, limits);
  // The strikes are sent later, in the next minute.
  clock.set(end + 5);
  expect((await last).outcome).toBe("banned");
  const bans = (await store.usage.loadBans()).filter(({ keyId }) => keyId === key);
  expect(bans).toMatchObject([{ startedAt: end - 1, until: end - 1 + rules.banMs }]);
  expect((await limiters[1]!.take(key, limits)).outcome).toBe("banned");
});

test("a lifted ban and its strikes are over on every limiter after a refresh", async () => {
  const key = await issueKey();
  const limits = { perMinute: 5, perDay: 1_000 };
  await takeMany(limiters[0]!, key, limits, 6);
  clock.advance(1_001);
  const decisions = await takeMany(limiters[0]!, key, limits, 20);
  expect(decisions.at(-1)!.outcome).toBe("banned");
  expect((await limiters[1]!.take(key, limits)).outcome).toBe("banned");
  expect(await store.usage.liftBan(key, clock.now(), anEntry)).toBe(true);
  for (const limiter of limiters) limiter.refresh();
  clock.advance(60_000);
  for (const limiter of limiters) {
    expect((await limiter.take(key, limits)).outcome).toBe("admitted");
  }
});

test("a change to another key does not end a ban", async () => {
  const key = await issueKey();
  const limits = { perMinute: 5, perDay: 1_000 };
  await takeMany(limiters[0]!, key, limits, 6);
  clock.advance(1_001);
  await takeMany(limiters[0]!, key, limits, 20);
  for (const limiter of limiters) {
    limiter.refresh();
    expect((await limiter.take(key, limits)).outcome).toBe("banned");
  }
});

test("changes to other keys do not lose strikes", async () => {
  const key = await issueKey();
  const limits = { perMinute: 5, perDay: 1_000 };
  await takeMany(limiters[0]!, key, limits, 6);
  clock.advance(1_001);
  const outcomes: string[] = [];
  for (let strike = 1; strike <= 20; strike++) {
    if (strike % 7 === 0) limiters[0]!.refresh();
    outcomes.push((await limiters[0]!.take(key, limits)).outcome);
  }
  expect(outcomes).toEqual([...Array(19).fill("limited"), "banned"]);
});
