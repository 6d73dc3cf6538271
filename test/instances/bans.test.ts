import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Fleet, startFleet } from "../support/instances/fleet.ts";
import { makeTimeMovable, startNext } from "../support/instances/movable-time.ts";
import { migratedDatabase } from "../support/postgres-template.ts";

let databaseUrl: string;
let fleet: Fleet;
beforeAll(async () => {
  databaseUrl = await migratedDatabase();
  await makeTimeMovable(databaseUrl);
  fleet = await startFleet(databaseUrl, { size: 2 });
});
afterAll(() => fleet.leave());

/** Sends one request after another. Returns how long after the first 429 the ban came. */
async function msUntilBan(key: string, instances: number): Promise<number> {
  let firstRefusedAt: number | undefined;
  for (let turn = 0; ; turn++) {
    const { status, json } = await fleet.call(turn % instances, "GET", "/inventory", { key });
    if (status === 200) continue;
    firstRefusedAt ??= performance.now();
    const lastedMs = performance.now() - firstRefusedAt;
    if ((json as { code: string }).code === "key_banned" || lastedMs > 10_000) return lastedMs;
    await Bun.sleep(5);
  }
}

test("a client that never pauses is banned soon after its grace period, on one instance or on all", async () => {
  const limits = ["--plan", "enterprise", "--per-minute", "6", "--per-day", "1000"];
  const keys = await Promise.all([fleet.issueKey(...limits), fleet.issueKey(...limits)]);
  await startNext(databaseUrl, "minute");
  // By then the instances know the new keys, and nothing else makes them query the database.
  await Bun.sleep(1_000);
  const waits = await Promise.all([
    msUntilBan(keys[0].key, 1),
    msUntilBan(keys[1].key, fleet.size),
  ]);
  for (const waitMs of waits) {
    expect(waitMs).toBeGreaterThan(1_000);
    expect(waitMs).toBeLessThan(5_000);
  }
});
