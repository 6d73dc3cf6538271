import { type Fault, inflict, type Sequence } from "../instances/chaos.ts";
import { startCluster } from "../instances/cluster.ts";
import type { Disturbance } from "../instances/disturbances.ts";
import type { Engine } from "../service.ts";
import { until } from "../until.ts";
import { type FeedFigures, feedTrialFlags, feedTrialPets, startFeedTrial } from "./trial.ts";

/** On SQLite only faults of an instance: there is no database that fails separately. */
export interface FeedTrialOptions extends Sequence<Fault | Disturbance> {
  readonly consumers: number;
  /** Requests that change the inventory between two faults. */
  readonly requestsBetween: number;
}

/**
 * Two instances on PostgreSQL unless told otherwise, or one on SQLite, with consumers of the feed, and one
 * fault after another. None of them loses rows, so every consumer must see the ledger without a reset.
 */
export async function endureFeedFaults(
  engine: Engine,
  { consumers, sequence, requestsBetween, instances = 2, random, hasSmallDisk }: FeedTrialOptions,
): Promise<FeedFigures> {
  await using cluster = await startCluster(engine, {
    size: instances,
    pets: feedTrialPets,
    flags: feedTrialFlags,
    hasSmallDisk,
  });
  const { fleet } = cluster;
  const trial = await startFeedTrial(fleet, consumers);
  await trial.changes.more(requestsBetween);
  const someWouldRepeat = () => trial.consumers.some(({ unsaved }) => unsaved > 0);
  for (const [turn, fault] of sequence.entries()) {
    await until(someWouldRepeat, 30_000, "changes whose cursor is not stored");
    await inflict(fault, cluster, turn % fleet.size, async () => {}, random);
    await trial.changes.more(requestsBetween);
  }
  await trial.end();
  return await trial.compareWithLedger();
}
