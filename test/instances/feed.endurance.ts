import { expect, test } from "bun:test";
import { readLedger, seqOfRow } from "../support/feed-trial/changes.ts";
import { endureFeedFaults } from "../support/feed-trial/faults.ts";
import { feedTrialFlags, feedTrialPets, startFeedTrial } from "../support/feed-trial/trial.ts";
import type { Fault } from "../support/instances/chaos.ts";
import { startPair } from "../support/instances/pair.ts";
import { until } from "../support/until.ts";

const consumers = 200;
const rounds = 40;

const faults: readonly Fault[] = ["an instance is killed", "an instance is replaced in good order"];

// The same on PostgreSQL is a part of `npm run survive`.
test(`${consumers} consumers of the feed see every change once and in order over ${rounds} faults on SQLite`, async () => {
  const sequence = Array.from({ length: rounds }, (_, turn) => faults[turn % faults.length]!);
  const figures = await endureFeedFaults("sqlite", { consumers, sequence, requestsBetween: 40 });
  console.log(JSON.stringify(figures));
  expect(figures.wrong).toEqual([]);
  expect(figures.connections).toBeGreaterThan(2 * consumers);
}, 900_000);

test("a failover that loses no row resets no consumer of the feed", async () => {
  const options = { size: 2, pets: feedTrialPets, flags: feedTrialFlags };
  await using pair = await startPair({ synchronous: true, ...options });
  const trial = await startFeedTrial(pair.fleet, consumers);
  await trial.changes.more(60);
  await pair.primary.kill();
  await pair.standby.promote();
  await trial.changes.more(60);
  await trial.end();
  const figures = await trial.compareWithLedger();
  console.log(JSON.stringify(figures));
  expect(figures.wrong).toEqual([]);
}, 120_000);

test("a failover that loses rows resets every consumer of the feed once, and all continue with the rows that exist", async () => {
  const options = { size: 2, pets: feedTrialPets, flags: feedTrialFlags };
  await using pair = await startPair({ synchronous: false, ...options });
  const { primary, standby, fleet } = pair;
  // A consumer that comes back with a cursor before the lost rows is not reset.
  const trial = await startFeedTrial(fleet, consumers, { savesEvery: 1 });
  await trial.changes.more(60);
  await trial.changes.end();
  await trial.arrived(await trial.changeForAll());
  await pair.replayed();
  const kept = (await readLedger(fleet, trial.key)).length;
  await standby.stop();
  const lost = await trial.changeForAll();
  await trial.arrived(lost);
  // Some consumers keep their stream, and others come back with a cursor that no longer exists.
  await Promise.all([primary.kill(), fleet.kill(0)]);
  await standby.start();
  await standby.promote();
  await fleet.start(0);
  await trial.changeForAll();
  const wasReset = () => trial.consumers.every(({ resets }) => resets.length > 0);
  await until(wasReset, 30_000, "every consumer is reset");
  const last = await trial.changeForAll();
  await trial.arrived(last);
  await Promise.all(trial.consumers.map((consumer) => consumer.leave()));
  const rows = (await readLedger(fleet, trial.key)).map(seqOfRow);
  expect(lost).toBeGreaterThan(kept);
  for (const { resets, seqs, faults } of trial.consumers) {
    expect(faults).toEqual([]);
    expect(resets).toHaveLength(1);
    const [{ seq, changesBefore }] = resets as [(typeof resets)[0]];
    expect(seq).toBeGreaterThanOrEqual(kept);
    expect(seqs[changesBefore - 1]).toBe(lost);
    // The new content of the lost number, and what follows.
    expect(seqs.slice(changesBefore)).toEqual(rows.filter((row) => row > seq));
  }
  const figures = trial.figures();
  console.log(JSON.stringify({ kept, lost, last, ...figures }));
  expect(figures.connections).toBeGreaterThan(consumers);
}, 120_000);
