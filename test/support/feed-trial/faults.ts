import { type Fault, inflict } from "../instances/chaos.ts";
import { startFleet, until } from "../instances/fleet.ts";
import { openTrialDatabase } from "../instances/trial-database.ts";
import type { Engine } from "../service.ts";
import { type FeedFigures, feedTrialFlags, feedTrialPets, startFeedTrial } from "./trial.ts";

export interface FeedTrialOptions {
  readonly consumers: number;
  /** On SQLite only faults of an instance: there is no database that fails separately. */
  readonly sequence: readonly Fault[];
  /** Requests that change the inventory between two faults. */
  readonly requestsBetween: number;
}

/**
 * Two instances on PostgreSQL, or one on SQLite, with consumers of the feed, and one fault after
 * another. None of them loses rows, so every consumer must see the ledger without a reset.
 */
export async function endureFeedFaults(
  engine: Engine,
  { consumers, sequence, requestsBetween }: FeedTrialOptions,
): Promise<FeedFigures> {
  await using database = await openTrialDatabase(engine);
  const { url, server, instances: size } = database;
  const fleet = await startFleet(url, {
    size,
    pets: feedTrialPets,
    flags: feedTrialFlags,
  });
  try {
    const trial = await startFeedTrial(fleet, consumers);
    await trial.changes.more(requestsBetween);
    const someWouldRepeat = () => trial.consumers.some(({ unsaved }) => unsaved > 0);
    for (const [round, fault] of sequence.entries()) {
      await until(someWouldRepeat, 30_000, "changes whose cursor is not stored");
      await inflict(fault, server!, fleet, round % size, async () => {});
      await trial.changes.more(requestsBetween);
    }
    await trial.end();
    return await trial.expectLedger();
  } finally {
    await fleet.leave();
  }
}
