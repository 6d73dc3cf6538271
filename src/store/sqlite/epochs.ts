import type { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";

/**
 * The epochs of a store on SQLite. The head has the current one, and the table `epochs` has all of
 * them. Nothing inside a file shows that it is a copy, so every start of the service begins an epoch,
 * and so does an import while no service runs.
 */

function readEpoch(database: Database): string {
  return database.query("SELECT epoch FROM head").values()[0]![0] as string;
}

/**
 * The epoch of a store that no service runs on. Call it before the transaction: if a service starts
 * later, it begins another epoch, which shows that.
 */
export function readUnservedEpoch(database: Database, isServed: () => boolean): string | undefined {
  const epoch = readEpoch(database);
  return isServed() ? undefined : epoch;
}

/** Begins an epoch after the last row, in the caller's transaction. */
export function setEpoch(database: Database, epoch: string): void {
  database.query("UPDATE head SET epoch = ?").run(epoch);
  database.query("INSERT INTO epochs (epoch, from_seq) SELECT epoch, seq FROM head").run();
}

/**
 * Begins an epoch if no service has begun one since `unservedEpoch`. The store may have been restored
 * from a backup, and the service may have stored other rows under the next numbers in that epoch.
 */
export function beginUnservedEpoch(database: Database, unservedEpoch: string): void {
  if (readEpoch(database) === unservedEpoch) setEpoch(database, randomUUID());
}
