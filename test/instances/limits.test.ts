import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Fleet, startFleet } from "../support/instances/fleet.ts";
import { makeTimeMovable, startNext } from "../support/instances/movable-time.ts";
import { withDatabase } from "../support/instances/recording.ts";
import { startSpending } from "../support/instances/spending.ts";
import { migratedDatabase } from "../support/postgres-template.ts";

let databaseUrl: string;
let fleet: Fleet;
beforeAll(async () => {
  databaseUrl = await migratedDatabase();
  await makeTimeMovable(databaseUrl);
  // The load continues after it is limited, which would ban the key.
  fleet = await startFleet(databaseUrl, { flags: ["--ban-strikes-min", "900000000"] });
});
afterAll(() => fleet.leave());

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

test("three instances under parallel load admit exactly the limit of every minute", async () => {
  const perMinute = 60;
  const { id, key } = await issueKey(perMinute, 900_000_000);
  let resetAt = await startNext(databaseUrl, "minute");
  const spending = startSpending(fleet, key, 4);
  for (let minute = 0; minute < 3; minute++) {
    // Some windows end exhausted, others end in the middle.
    if (minute % 3 === 2) await spending.moreAdmitted(perMinute / 3);
    else await spending.usedUp(resetAt);
    resetAt = await startNext(databaseUrl, "minute");
  }
  await spending.usedUp(resetAt);
  await spending.end();
  expect(spending.surprises).toEqual([]);
  for (const { admitted, refusedBy } of spending.windows()) {
    expect(admitted).toBeLessThanOrEqual(perMinute);
    if (refusedBy.size > 0) expect(admitted).toBe(perMinute);
  }
  const usedUp = spending.windows().filter(({ refusedBy }) => refusedBy.size === 3);
  expect(usedUp.length).toBeGreaterThanOrEqual(3);
  expect(await countedToday(id)).toBe(spending.admitted());
});

test("three instances under parallel load admit exactly the limit of every day", async () => {
  const perDay = 100;
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
