import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { backupDueAt, backupMsMax, startBackups } from "../../src/domain/operations/backups.ts";
import {
  clockErrorMsMax,
  type MaintenanceRecord,
} from "../../src/domain/operations/maintenance.ts";
import type { Store } from "../../src/domain/store.ts";
import { createTestClock, testStart } from "../support/clock.ts";
import { openWorkspace } from "../support/process.ts";
import { engines, startTestService } from "../support/service.ts";
import { withStoreAt } from "../support/stocking.ts";
import { until } from "../support/until.ts";
import { openStoreWorkspace } from "../support/workspaces.ts";

const hourMs = 3_600_000;
const place = openWorkspace();
afterAll(() => place.leave());

describe("the next backup is due", () => {
  const now = testStart;
  const due = (record: Partial<MaintenanceRecord> | undefined, everyMs = 24 * hourMs) => {
    const nothing = { succeededAt: null, failedAt: null, result: null, error: null };
    const whole = record && { task: "backup" as const, startedAt: now, ...nothing, ...record };
    return backupDueAt(whole, everyMs, now) - now;
  };

  test("at once if there was none, or if its time is in the future by more than clocks differ", () => {
    expect(due(undefined)).toBe(Number.NEGATIVE_INFINITY);
    const startedAt = now + clockErrorMsMax;
    expect(due({ startedAt: startedAt + 1 })).toBe(Number.NEGATIVE_INFINITY);
    expect(due({ startedAt, succeededAt: startedAt })).toBe(clockErrorMsMax + 24 * hourMs);
  });

  test("an interval after the start of the last one, however long that took", () => {
    expect(due({ startedAt: now - 9, succeededAt: now - 1 })).toBe(24 * hourMs - 9);
    // A backup by hand after a failure.
    expect(due({ startedAt: now - 9, failedAt: now - 2, succeededAt: now })).toBe(24 * hourMs - 9);
  });

  test("at once if only an operator has made one", () => {
    expect(due({ startedAt: 0, succeededAt: now - 5 })).toBeLessThan(0);
  });

  test("five minutes after a failure, or sooner if the interval is shorter", () => {
    expect(due({ startedAt: now - 9, failedAt: now - 1 })).toBe(300_000 - 1);
    expect(due({ startedAt: now - 9, succeededAt: now - 5, failedAt: now - 1 })).toBe(299_999);
    expect(due({ startedAt: now - 9, failedAt: now - 1 }, 2_000)).toBe(1_999);
  });

  test("when one that never ended cannot be running any more", () => {
    const before = { succeededAt: now - 10, failedAt: now - 10 };
    expect(due({ startedAt: now - 9, ...before })).toBe(backupMsMax - 9);
    expect(due({ startedAt: now - 9, ...before }, 1_000)).toBe(backupMsMax - 9);
  });
});

for (const engine of engines) {
  test(`instances on ${engine} make each backup once, also after restarts and with a moved clock`, async () => {
    const workspace = await openStoreWorkspace(engine);
    const clock = createTestClock();
    const everyMs = 1_000;
    const made: number[] = [];
    const logged: string[] = [];
    let polls = 0;
    let problem: string | undefined;

    function startInstance(store: Store) {
      const { maintenance } = store;
      return startBackups({
        maintenance: {
          ...maintenance,
          listMaintenance() {
            polls += 1;
            return maintenance.listMaintenance();
          },
        },
        clock,
        random: () => 0,
        log: (event, details) => void logged.push(JSON.stringify({ event, ...details })),
        everyMs,
        async make() {
          if (problem) throw new Error(problem);
          const now = clock.now();
          await maintenance.endTask("backup", now, "{}");
          made.push(now);
          return { file: "f" };
        },
      });
    }
    /** Every instance has had time to do what it should not. */
    async function settle(): Promise<void> {
      const enough = polls + 9;
      await until(() => polls >= enough, 20_000, "polls");
    }
    const madeBecomes = (count: number) => until(() => made.length >= count, 20_000, "backup");

    await workspace.withStore((one) =>
      workspace.withStore(async (other) => {
        let instances = [one, other, one].map(startInstance);
        await madeBecomes(1);
        await settle();
        clock.advance(everyMs - 1);
        await settle();
        expect(made).toEqual([testStart]);
        clock.advance(1);
        await madeBecomes(2);
        await Promise.all(instances.map((instance) => instance.stop()));
        clock.advance(500);
        instances = [one, other].map(startInstance);
        await settle();
        expect(made.length).toBe(2);
        clock.advance(500);
        await madeBecomes(3);
        // The clock was a year ahead and is corrected.
        clock.advance(365 * 24 * hourMs);
        await madeBecomes(4);
        // No instance is between a look at the old time and its claim.
        await settle();
        clock.set(testStart + 5_000);
        await madeBecomes(5);
        await settle();
        expect(made.length).toBe(5);
        problem = "no space";
        clock.advance(everyMs);
        await until(() => logged.at(-1)!.includes("backup failed"), 20_000, "failure");
        clock.advance(everyMs);
        await settle();
        clock.advance(everyMs);
        await settle();
        const records = await one.maintenance.listMaintenance();
        expect(records).toMatchObject([{ failedAt: clock.now(), error: "no space" }]);
        problem = undefined;
        clock.advance(everyMs);
        await madeBecomes(6);
        await settle();
        await Promise.all(instances.map((instance) => instance.stop()));
      }),
    );
    // Each instance that failed has said so once.
    const failures = logged.filter((line) => line.includes("backup failed"));
    expect(failures.length).toBeGreaterThan(0);
    expect(failures.length).toBeLessThanOrEqual(2);
    expect(made.length).toBe(6);
    await workspace.leave();
  });
}

test("a backup that is killed leaves nothing, and one that runs when the service stops is ended", async () => {
  const folder = place.path("ended");
  const flags = { "backup-every": "1h", "backup-folder": folder };
  const leave = '"$(dirname "$2")/.$(basename "$2").00000000-0000-0000-0000-000000000000.tmp"';
  const killed = ["sh", "-c", `echo half > ${leave}; kill -9 $$`, "sh"];
  const slow = ["sh", "-c", `echo half > ${leave}; exec sleep 600`, "sh"];
  for (const [program, isSlow] of [
    [killed, false],
    [slow, true],
  ] as const) {
    const bounds = { backupEveryMs: 400 };
    const database = `sqlite:${place.path(`ended-${isSlow}.db`)}`;
    const service = await startTestService("sqlite", { ...flags, database }, bounds, { program });
    const { logged } = service;
    const isBegun = () => (isSlow ? readdirSync(folder).length > 0 : logged.length > 0);
    await until(isBegun, 20_000, "the backup");
    await service.stop();
    expect(readdirSync(folder)).toEqual([]);
    const failure = { event: "backup failed", error: "the process ended with SIGKILL" };
    expect(logged.map((line) => JSON.parse(line))).toEqual(isSlow ? [] : [failure]);
    const records = await withStoreAt(database, (store) => store.maintenance.listMaintenance());
    expect(records[0]!.error).toBe(isSlow ? "the service stopped" : failure.error);
  }
});
