import { createHash } from "node:crypto";
import { readConfig } from "../config.ts";
import { ServiceError } from "../domain/errors.ts";
import type { RowsOf, Store } from "../domain/ports.ts";
import { verify } from "../domain/verify.ts";
import {
  assertStoreFile,
  lockStore,
  openExistingStore,
  openStore,
  systemClock,
} from "../engines.ts";
import { print } from "../output.ts";
import { tables } from "../store/tables.ts";
import type { Input } from "./command.ts";
import { printFaults } from "./verify.ts";
import { printCreated } from "./with-store.ts";

interface MigrateFlags {
  readonly from: string;
  readonly to: string;
}

/**
 * Copies a whole store to another database, compares every row of every table, and recomputes the
 * inventory from the ledger. The target gets a new epoch. With the epoch of the source, the two
 * stores would have different content under the same ETag as soon as the source changes.
 */
export async function migrateStore({ flags, settings }: Input<MigrateFlags>): Promise<number> {
  if (flags.from === flags.to) {
    throw new ServiceError("invalid_request", "--from and --to must be different databases");
  }
  const source = readConfig({ ...settings, ...flags }, undefined, "from");
  const target = readConfig({ ...settings, ...flags }, undefined, "to");
  await using opened = new AsyncDisposableStack();
  // A lock creates the file. A wrong path must not become an empty source, nor leave a target.
  await assertStoreFile(source);
  opened.defer(lockStore(source));
  const from = await openExistingStore(source, systemClock);
  opened.defer(() => from.close());
  opened.defer(lockStore(target));
  const to = await openStore(target, systemClock, printCreated);
  opened.defer(() => to.close());
  // Without `await`, the stores would be closed before the copy ends.
  return await copyAndCompare(from, to);
}

async function copyAndCompare(from: Store, to: Store): Promise<number> {
  const sent = await from.transfer.snapshot(async ({ rowsOf }) => {
    const counted = createTally(rowsOf);
    await to.transfer.importTables(counted.rowsOf);
    return counted.tallies();
  });
  const stored = await to.transfer.snapshot(async ({ rowsOf }) => {
    const counted = createTally(rowsOf);
    for (const { name } of tables) for await (const _ of counted.rowsOf(name));
    return counted.tallies();
  });
  const verified = await to.transfer.snapshot((snapshot) => verify(snapshot));
  const different = tables.filter(({ name }) => sent[name]!.digest !== stored[name]!.digest);
  for (const { name } of different) print(`table ${name}: the copy differs from the source`);
  if (verified.faultCount > 0) printFaults(verified);
  if (different.length > 0 || verified.faultCount > 0) return 1;
  const counts = tables.map(({ name }) => `${sent[name]!.rows} ${name}`);
  print(`Copied and compared every row: ${counts.join(", ")}.`);
  return 0;
}

interface Tally {
  readonly rows: number;
  readonly digest: string;
}

/** Passes rows on, and counts and digests those of each table. */
function createTally(source: RowsOf) {
  const found: Record<string, Tally> = {};
  return {
    tallies: () => found,
    rowsOf: async function* rowsOf(name) {
      const digest = createHash("sha256");
      let rows = 0;
      for await (const batch of source(name)) {
        for (const row of batch) digest.update(JSON.stringify(row.map(asText)));
        rows += batch.length;
        yield batch;
      }
      found[name] = { rows, digest: digest.digest("hex") };
    } satisfies RowsOf,
  };
}

/** Engines return small integers as numbers or as bigints. Their text is the same. */
function asText(value: unknown): string | null {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return value === null ? null : String(value);
}
