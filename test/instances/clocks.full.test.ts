import { afterAll, beforeAll, expect, test } from "bun:test";
import { resolve } from "node:path";
import { boundless, type Fleet, startFleet } from "../support/instances/fleet.ts";
import { jumpBy, makeTimeMovable, startNext } from "../support/instances/movable-time.ts";
import { withDatabase } from "../support/instances/recording.ts";
import { startSpending } from "../support/instances/spending.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { verifyStore } from "../support/stocking.ts";
import { until } from "../support/until.ts";

/** How far the clocks of the three instances are wrong. */
const shiftsMs = [-30_000, 0, 30_000];

let databaseUrl: string;
let fleet: Fleet;
beforeAll(async () => {
  databaseUrl = await createdDatabase();
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

function issueKey(perMinute: number, perDay: number) {
  const limits = ["--per-minute", `${perMinute}`, "--per-day", `${perDay}`];
  return fleet.issueKey("--plan", "enterprise", ...limits);
}

/** How many requests of a key the database has counted since the day began. */
async function countedToday(keyId: string): Promise<number> {
  const [row] = await withDatabase(
    databaseUrl,
    (sql) =>
      sql`SELECT day_count FROM counts WHERE key_id = ${keyId}`.values() as Promise<bigint[][]>,
  );
  return Number(row![0]);
}

test("instances whose clocks differ by a minute admit exactly the limit of every minute, and agree on its end", async () => {
  const perMinute = 45;
  const { id, key } = await issueKey(perMinute, 900_000_000);
  const expected: number[] = [];
  let spending: ReturnType<typeof startSpending> | undefined;
  for (let minute = 0; minute < 2; minute++) {
    const resetAt = await startNext(databaseUrl, "minute");
    expected.push(resetAt);
    spending ??= startSpending(fleet, key, 4);
    await spending.usedUp(resetAt);
  }
  await spending!.end();
  expect(spending!.surprises).toEqual([]);
  const windows = spending!.windows().map(({ resetAt, admitted }) => ({ resetAt, admitted }));
  expect(windows).toEqual(expected.map((resetAt) => ({ resetAt, admitted: perMinute })));
  expect(await countedToday(id)).toBe(2 * perMinute);
});

test("instances whose clocks differ by a minute admit exactly the limit of every day", async () => {
  const perDay = 60;
  const { id, key } = await issueKey(900_000, perDay);
  const spending = startSpending(fleet, key, 4);
  const days: number[] = [];
  for (let day = 1; day <= 2; day++) {
    const resetAt = await startNext(databaseUrl, "day");
    await spending.usedUp(resetAt);
    expect(await countedToday(id)).toBe(perDay);
    days.push(resetAt);
  }
  // A 429 overtakes a 200, which still has the list to send, so the sum is taken at the end.
  await spending.end();
  for (const resetAt of days) expect(spending.window(resetAt).admitted).toBe(perDay);
  expect(spending.surprises).toEqual([]);
});

test("an instance that was paused and resumes minutes later admits nothing beyond the limit", async () => {
  const perMinute = 60;
  const { key } = await issueKey(perMinute, 900_000_000);
  let resetAt = await startNext(databaseUrl, "minute");
  const spending = startSpending(fleet, key, 4);
  await spending.moreAdmitted(perMinute / 2);
  fleet.instance(2).kill("SIGSTOP");
  for (let minute = 0; minute < 2; minute++) {
    await spending.usedUp(resetAt, [0, 1]);
    resetAt = await startNext(databaseUrl, "minute");
  }
  fleet.instance(2).kill("SIGCONT");
  await spending.usedUp(resetAt);
  resetAt = await startNext(databaseUrl, "minute");
  await spending.usedUp(resetAt);
  await spending.end();
  // The paused instance may have missed a response: then it was counted and no request got it.
  for (const { admitted } of spending.windows()) expect(admitted).toBeLessThanOrEqual(perMinute);
  expect(spending.window(resetAt).admitted).toBe(perMinute);
  expect(spending.surprises.filter((one) => one !== "503 from instance 2")).toEqual([]);
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

test("after the database's clock jumped by nine days and back, no retry is applied again, nobody waits for it, and each instance has logged it once", async () => {
  const { key } = await issueKey(30, 5_000);
  const update = (index: number, quantity: number, name: string) =>
    fleet.call(index, "PATCH", "/inventory/1", {
      key,
      body: `{"quantity":${quantity}}`,
      headers: { "Idempotency-Key": name },
    });
  await startNext(databaseUrl, "minute");
  for (const [index] of shiftsMs.entries())
    expect((await update(index, 5, "one")).status).toBe(200);
  await jumpBy(databaseUrl, "9 days");
  expect((await update(1, 6, "two")).status).toBe(200);
  for (const [index] of shiftsMs.entries()) {
    const again = await update(index, 5, "one");
    expect([again.status, again.headers.get("Idempotent-Replayed")]).toEqual([200, "true"]);
  }
  const used = await fleet.call(0, "GET", "/inventory/1", { key });
  expect(used.json).toMatchObject({ quantity: 6 });
  let refused = used;
  while (refused.status === 200) refused = await fleet.call(0, "GET", "/inventory/1", { key });
  await jumpBy(databaseUrl, "-9 days");
  const other = await issueKey(30, 5_000);
  for (const [index] of shiftsMs.entries()) {
    // The response to another key is the first to tell this instance of the jump.
    await fleet.call(index, "GET", "/inventory/1", { key: other.key });
    const response = await fleet.call(index, "GET", "/inventory/1", { key });
    if (response.status === 429) {
      expect(Number(response.headers.get("Retry-After"))).toBeLessThanOrEqual(60);
    }
  }
  for (const [index] of shiftsMs.entries()) {
    const jumps = () =>
      fleet
        .instance(index)
        .written()
        .split("\n")
        .filter((line) => line.includes('"clock jumped"'))
        .map((line) => JSON.parse(line) as { clock: string; byMs: number })
        .filter(({ byMs }) => Math.abs(byMs) > 8 * 86_400_000);
    await until(() => jumps().length >= 2, 5_000, "the jumps are not logged");
    expect(jumps().map(({ clock, byMs }) => [clock, Math.sign(byMs)])).toEqual([
      ["database server", 1],
      ["database server", -1],
    ]);
  }
});
