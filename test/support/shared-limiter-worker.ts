import { createSharedLimiter } from "../../src/limits/shared.ts";
import { createDatabase } from "../../src/store/postgres/engine/database.ts";
import { createSharedUsage } from "../../src/store/postgres/usage.ts";

/**
 * One of several processes that ask for one key as fast as they can, while a minute passes every
 * 400 ms. Prints how many requests it got admitted in each window.
 */
const [url = "", key = "", base = "0", started = "0"] = process.argv.slice(2);
const elapsedMs = () => (Date.now() - Number(started)) * 150;
const clock = { now: () => Number(base) + elapsedMs(), elapsedMs };
const runMs = 2_500;
const database = createDatabase(url);
const limiter = createSharedLimiter({
  usage: createSharedUsage(database.connection(5_000).query, clock),
  rules: {
    ...{ graceMs: 1_000, strikesMin: 1e9, strikesDivisor: 1 },
    ...{ banMs: 1, banMsMax: 1, escalationMs: 1 },
  },
  serverTime: { observe() {} },
  log: () => {},
});
const counts: Record<string, number> = {};
const limits = { perMinute: 60, perDay: 1_000_000 };
while (Date.now() < Number(started) + runMs) {
  const verdicts = await Promise.all(
    Array.from({ length: 20 }, async () => limiter.take(key, limits)),
  );
  for (const { outcome, minute } of verdicts) {
    if (outcome === "admitted") counts[minute.resetAt] = (counts[minute.resetAt] ?? 0) + 1;
  }
  await new Promise((resolve) => setImmediate(resolve));
}
console.log(JSON.stringify(counts));
await limiter.close();
database.close();
