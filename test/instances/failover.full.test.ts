import { expect, test } from "bun:test";
import { failOver } from "../support/instances/failover.ts";
import { startPair } from "../support/instances/pair.ts";
import { withDatabase } from "../support/instances/recording.ts";
import { until } from "../support/until.ts";

// Concurrent, because most of the time is spent waiting for servers and deadlines.
test.concurrent("a primary paused under load loses no acknowledged update to its promoted standby, and the instances find it without help", async () => {
  const figures = await failOver(2, 60, "paused", 100);
  expect(figures.wrong).toEqual([]);
  expect(figures.acknowledged).toBeGreaterThan(120);
});

const recoveryMsMax = 15_000;

test.concurrent("an old primary that stops responding and resumes after the promotion is not read from", async () => {
  await using pair = await startPair({ synchronous: true });
  const { primary, standby, patch, get } = pair;
  expect(await patch(1)).toBe(200);
  expect((await get()).quantity).toBe(1);
  primary.pause();
  await standby.promote();
  // Only updates while the old primary does not respond: connections for reading do not notice.
  await pair.acknowledged(2);
  primary.resume();
  await pair.acknowledged(3);
  for (let turn = 0; turn < 20; turn++) {
    const { status, quantity } = await get();
    if (status === 200) expect(quantity).toBe(3);
    else expect(status).toBe(503);
  }
  await until(async () => (await get()).status === 200, recoveryMsMax, "a list");
});

test.concurrent("a promoted standby that lacks the last updates is shown as it is, and no earlier ETag hides that", async () => {
  await using pair = await startPair({ synchronous: false });
  const { primary, standby, fleet, patch, get } = pair;
  expect(await patch(1)).toBe(200);
  const copied = () =>
    withDatabase(standby.url(pair.name), (sql) => sql`SELECT quantity FROM inventory`.values());
  await until(async () => (await copied())[0][0] === 1n, recoveryMsMax, "the standby's copy");
  await standby.stop();
  expect(await patch(2)).toBe(200);
  const lost = await get();
  expect(lost).toMatchObject({ status: 200, quantity: 2 });
  await primary.kill();
  await standby.start();
  await standby.promote();
  await until(async () => (await get()).status === 200, recoveryMsMax, "recovery");
  expect(await get(lost.tag)).toMatchObject({ status: 200, quantity: 1 });
  // The ledger grows to its earlier length, with other content.
  await pair.acknowledged(3);
  expect(await get(lost.tag)).toMatchObject({ status: 200, quantity: 3 });
  expect(await fleet.run("verify")).toMatchObject({ code: 0 });
});
