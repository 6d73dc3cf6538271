import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { readConfig } from "../../src/config.ts";
import { digestOf } from "../../src/domain/keys/keyring.ts";
import { generateKeyId } from "../../src/domain/keys/keys.ts";
import { newUsage, take } from "../../src/domain/limits/limits.ts";
import type { Store } from "../../src/domain/store.ts";
import { createLocalLimiter } from "../../src/limits/local.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { anEntry } from "../support/audit.ts";
import { createTestClock, testStart } from "../support/clock.ts";
import { createNaiveLimiter } from "../support/properties/naive-limiter.ts";
import { runs } from "../support/properties/runs.ts";

const rules = readConfig({}, {}).ban;
const clock = createTestClock();
const dayMs = 86_400_000;

let store: Store;
const folder = mkdtempSync(join(tmpdir(), "petstore-limits-"));
beforeAll(async () => {
  const path = join(folder, "test.db");
  store = await openSqlite({ path, environment: "production", clock, threaded: false });
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Also the last minute of a day: only then can both windows be exhausted at once. */
const limits = fc
  .record({
    perMinute: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom(255, 300)),
    perDay: fc.integer({ min: 1, max: 400 }),
    wholeMinutes: fc.option(fc.integer({ min: 1, max: 3 })),
  })
  .map(({ perMinute, perDay, wholeMinutes }) => ({
    perMinute,
    perDay: wholeMinutes === null ? perDay : wholeMinutes * perMinute,
  }));
/** Any time, and often exactly the times at which a rule starts or ends to apply. */
const turns = fc.constantFrom(
  ...[1, 1_000, 1_001, 10_000, 10_001, 60_000, 300_000, 600_000, dayMs, dayMs + 1],
);
const forwards = fc.oneof(
  { weight: 4, arbitrary: turns },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 2_500 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 180_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 * dayMs }) },
);
const ask = fc.oneof(fc.integer({ min: 1, max: 22 }), fc.integer({ min: 20, max: 80 }));
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("ask" as const), count: ask }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: forwards }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("back" as const), ms: forwards }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lift" as const) }) },
);

test("every decision follows the rules, for any schedule, clock, restarts and lifted bans", async () => {
  // Each run uses different days, far from what earlier ones stored.
  let start = testStart;
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      limits,
      fc.array(step, { minLength: 5, maxLength: 25 }),
      async (given, steps) => {
        start += 100 * dayMs;
        clock.set(start);
        const keyId = await addKey(given);
        const options = { usage: store.usage, clock, rules, log: () => {} };
        let limiter = await createLocalLimiter(options);
        const model = createNaiveLimiter(given, rules);
        for (const one of steps) {
          if (one.kind === "wait") clock.advance(one.ms);
          else if (one.kind === "back") clock.advance(-one.ms);
          else if (one.kind === "restart") {
            await limiter.close();
            limiter = await createLocalLimiter(options);
            const saved = await store.usage.loadUsage();
            model.restart(
              clock.now(),
              saved.find((row) => row.keyId === keyId),
            );
          } else if (one.kind === "lift") {
            clock.advance(1);
            model.take(clock.now());
            await limiter.take(keyId, given);
            await store.usage.liftBan(keyId, clock.now(), anEntry);
            limiter.refresh();
            model.lift();
          } else {
            for (let sent = 0; sent < one.count; sent++) {
              const { outcome, binding } = await limiter.take(keyId, given);
              seen.add(outcome);
              const expected = model.take(clock.now());
              const decided = { outcome, ...binding };
              // Without `expect`, because there are tens of thousands of decisions.
              if (!Bun.deepEquals(decided, expected)) expect(decided).toEqual(expected);
            }
          }
        }
        await limiter.close();
      },
    ),
    runs(200),
  );
  expect([...seen].sort()).toEqual(["admitted", "banned", "limited"]);
});

test("no schedule admits more than the limits in any UTC minute or day", async () => {
  const waits = fc.array(fc.tuple(forwards, fc.integer({ min: 1, max: 40 })), { maxLength: 40 });
  await fc.assert(
    fc.property(limits, waits, (given, schedule) => {
      const usage = newUsage();
      const admitted: number[] = [];
      let now = testStart;
      for (const [waitMs, count] of schedule) {
        now += waitMs;
        for (let sent = 0; sent < count; sent++) {
          if (take(usage, given, rules, now).outcome === "admitted") admitted.push(now);
        }
      }
      const most = (windowMs: number) =>
        Math.max(
          0,
          ...Map.groupBy(admitted, (at) => Math.floor(at / windowMs))
            .values()
            .map((all) => all.length),
        );
      expect(most(60_000)).toBeLessThanOrEqual(given.perMinute);
      expect(most(dayMs)).toBeLessThanOrEqual(given.perDay);
    }),
    runs(100),
  );
});

async function addKey(given: { perMinute: number; perDay: number }): Promise<string> {
  const id = generateKeyId();
  const key = { id, name: "test", plan: "enterprise", limits: given, scopes: [] } as const;
  const times = { createdAt: clock.now(), expiresAt: null, revokedAt: null };
  await store.keys.addKey({ ...key, ...times }, digestOf(id), anEntry);
  return id;
}
