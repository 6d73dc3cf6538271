import { expect, test } from "bun:test";
import { startFleet } from "../support/instances/fleet.ts";
import { withDatabase } from "../support/instances/recording.ts";
import { startSpending } from "../support/instances/spending.ts";
import { createdDatabase } from "../support/postgres-template.ts";

const minutes = 3;
const perMinute = 5_000;

test(`three instances admit exactly the limit of each of ${minutes} real minutes`, async () => {
  const databaseUrl = await createdDatabase();
  const fleet = await startFleet(databaseUrl, { flags: ["--ban-strikes-min", "900000000"] });
  try {
    const { id, key } = await fleet.issueKey(
      ...["--plan", "enterprise", "--per-minute", `${perMinute}`, "--per-day", "900000000"],
    );
    const spending = startSpending(fleet, key, 8);
    // The first window starts before the load and the last one ends after it.
    const end = (Math.floor(Date.now() / 60_000) + 1 + minutes) * 60_000 + 2_000;
    while (Date.now() < end) await Bun.sleep(100);
    await spending.end();
    const windows = spending.windows().map(({ admitted, refusedBy }) => ({
      admitted,
      refusedBy: refusedBy.size,
    }));
    console.log(JSON.stringify(windows));
    expect(spending.surprises).toEqual([]);
    for (const { admitted, refusedBy } of windows) {
      expect(admitted).toBeLessThanOrEqual(perMinute);
      if (refusedBy > 0) expect(admitted).toBe(perMinute);
    }
    const usedUp = windows.filter(({ refusedBy }) => refusedBy === fleet.size);
    expect(usedUp.length).toBeGreaterThanOrEqual(minutes);
    const [row] = await withDatabase(
      databaseUrl,
      (sql) =>
        sql`SELECT day_count FROM counts WHERE key_id = ${id}`.values() as Promise<bigint[][]>,
    );
    expect(Number(row![0])).toBe(spending.admitted());
  } finally {
    await fleet.leave();
  }
}, 600_000);
