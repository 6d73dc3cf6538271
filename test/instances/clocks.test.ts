import { afterAll, beforeAll, expect, test } from "bun:test";
import { resolve } from "node:path";
import { boundless, type Fleet, startFleet } from "../support/instances/fleet.ts";
import { makeTimeMovable, startNext } from "../support/instances/movable-time.ts";
import { withDatabase } from "../support/instances/recording.ts";
import { startSpending } from "../support/instances/spending.ts";
import { migratedDatabase } from "../support/postgres-template.ts";
import { verifyStore } from "../support/stocking.ts";

/** How far the clocks of the three instances are wrong. */
const shiftsMs = [-30_000, 0, 30_000];

let databaseUrl: string;
let fleet: Fleet;
beforeAll(async () => {
  databaseUrl = await migratedDatabase();
  await makeTimeMovable(databaseUrl);
  const command = [
    ...[
      process.execPath,
      "--preload",
      resolve(import.meta.dir, "../support/instances/shifted-clock.ts"),
    ],
    resolve(import.meta.dir, "../../src/main.ts"),
  ];
  fleet = await startFleet(databaseUrl, {
    pets: [1],
    flags: ["--ban-strikes-min", "900000000"],
    runOptions: (index) => ({ command, env: { SHIFT_MS: `${shiftsMs[index]}` } }),
  });
});
afterAll(() => fleet.leave());

test("the clocks of these instances are wrong, as the counts that each keeps locally show", async () => {
  const resets = await Promise.all(
    shiftsMs.map(async (_, index) => {
      const { headers } = await fleet.call(index, "GET", "/inventory");
      const secondsLeft = Number(/"minute";r=\d+;t=(\d+)/.exec(headers.get("ratelimit")!)![1]);
      return Number(headers.get("x-ratelimit-reset")) - secondsLeft;
    }),
  );
  const apart = resets.map((time) => time - resets[1]!);
  for (const [index, shiftMs] of shiftsMs.entries()) {
    expect(Math.abs(apart[index]! - shiftMs / 1_000)).toBeLessThan(5);
  }
});

test("instances whose clocks differ by a minute admit exactly the limit of every minute, and agree on its end", async () => {
  const perMinute = 45;
  const { key } = await fleet.issueKey(
    ...["--plan", "enterprise", "--per-minute", `${perMinute}`, "--per-day", "900000000"],
  );
  const expected: number[] = [];
  let spending: ReturnType<typeof startSpending> | undefined;
  for (let minute = 0; minute < 2; minute++) {
    const resetAt = await startNext(databaseUrl, "minute");
    expected.push(resetAt);
    spending ??= startSpending(fleet, key, 2);
    await spending.usedUp(resetAt);
  }
  await spending!.end();
  expect(spending!.surprises).toEqual([]);
  const windows = spending!.windows().map(({ resetAt, admitted }) => ({ resetAt, admitted }));
  expect(windows).toEqual(expected.map((resetAt) => ({ resetAt, admitted: perMinute })));
});

test("the ledger's times are the database's and never go back, whichever instance wrote", async () => {
  const { key } = await fleet.issueKey(...boundless);
  const [[begin]] = await times("SELECT extract(epoch FROM clock_timestamp()) * 1000");
  for (let turn = 0; turn < 15; turn++) {
    const body = `{"quantity":${turn}}`;
    const { status } = await fleet.call(turn % 3, "PATCH", "/inventory/1", { key, body });
    expect(status).toBe(200);
  }
  const [[end]] = await times("SELECT extract(epoch FROM clock_timestamp()) * 1000");
  const rows = await times("SELECT at FROM ledger WHERE cause = 'api' ORDER BY seq");
  const at = rows.map(([time]) => time);
  expect(at).toHaveLength(15);
  expect(at).toEqual(at.toSorted((one, other) => one - other));
  expect(at[0]).toBeGreaterThanOrEqual(Math.floor(begin));
  expect(at.at(-1)).toBeLessThanOrEqual(end);
  expect((await verifyStore(databaseUrl)).faults).toEqual([]);
});

async function times(text: string): Promise<[[number], ...[number][]]> {
  const rows = await withDatabase(databaseUrl, (sql) => sql.unsafe(text).values());
  return rows.map((row: unknown[]) => row.map(Number)) as never;
}
