import { expect, test } from "bun:test";
import { failOver } from "../support/instances/failover.ts";
import { until } from "../support/instances/fleet.ts";
import { startPair } from "../support/instances/pair.ts";

const rounds = 10;

test(`no acknowledged update is lost over ${rounds} failovers under load, three instances each`, async () => {
  for (let round = 0; round < rounds; round++) {
    const figures = await failOver(3, 300 + 100 * round);
    console.log(JSON.stringify(figures));
    expect(figures.recoveryMs).toBeLessThan(10_000);
  }
}, 900_000);

const recoveryMsMax = 15_000;

test("an old primary that stops responding and resumes after the promotion is not read from", async () => {
  await using pair = await startPair({ synchronous: true });
  const { primary, standby, patch, get } = pair;
  expect(await patch(1)).toBe(200);
  expect((await get()).quantity).toBe(1);
  primary.pause();
  await standby.promote();
  // Only updates while the old primary does not respond: connections for reading do not notice.
  await until(async () => (await patch(2)) === 200, recoveryMsMax, "an update");
  primary.resume();
  expect(await patch(3)).toBe(200);
  for (let turn = 0; turn < 20; turn++) {
    const { status, quantity } = await get();
    if (status === 200) expect(quantity).toBe(3);
    else expect(status).toBe(503);
  }
  expect((await get()).status).toBe(200);
}, 60_000);
