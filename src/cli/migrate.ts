import { createHash } from "node:crypto";
import { claimStore, openStore, systemClock } from "../compose.ts";
import { readConfig, readFlags } from "../config.ts";
import { Refusal } from "../domain/errors.ts";
import type { RowsOf, Store } from "../domain/ports.ts";
import { verify } from "../domain/verify.ts";
import { print } from "../output.ts";
import { tables } from "../store/tables.ts";
import { printFaults } from "./verify.ts";

/**
 * Carries a whole store over to another engine and proves that it arrived: every row of every
 * table is compared, and the inventory is recomputed from the ledger. The target keeps an epoch of
 * its own, because a source that somebody goes on writing to would otherwise show other content
 * under the same tags.
 */
export async function migrateStore(words: string[]): Promise<number> {
  const { flags, rest } = readFlags(words, { from: { type: "string" }, to: { type: "string" } });
  if (rest.length > 0 || !flags.from || !flags.to || flags.from === flags.to) {
    throw new Refusal("invalid_request", "this command takes --from DATABASE --to DATABASE");
  }
  const source = readConfig(flags, undefined, "from");
  const target = readConfig(flags, undefined, "to");
  await using opened = new AsyncDisposableStack();
  for (const config of [source, target]) opened.defer(claimStore(config));
  const from = await openStore(source, systemClock);
  opened.defer(() => from.close());
  const to = await openStore(target, systemClock);
  opened.defer(() => to.close());
  // Awaited here: what was opened is closed when this function is left.
  return await carry(from, to);
}

async function carry(from: Store, to: Store): Promise<number> {
  const sent = await from.transfer.snapshot(async ({ rowsOf }) => {
    const watched = createTally(rowsOf);
    await to.transfer.importTables(watched.rowsOf);
    return watched.tallies();
  });
  const arrived = await to.transfer.snapshot(async ({ rowsOf }) => {
    const watched = createTally(rowsOf);
    for (const { name } of tables) for await (const _ of watched.rowsOf(name));
    return watched.tallies();
  });
  const verified = await to.transfer.snapshot(verify);
  const different = tables.filter(({ name }) => sent[name]!.digest !== arrived[name]!.digest);
  for (const { name } of different) print(`${name}: what arrived is not what was sent`);
  printFaults(verified);
  if (different.length > 0 || verified.faultCount > 0) return 1;
  const counts = tables.map(({ name }) => `${sent[name]!.rows} ${name}`);
  print(`Carried over and compared, row by row: ${counts.join(", ")}.`);
  return 0;
}

interface Tally {
  readonly rows: number;
  readonly digest: string;
}

/** Counts and digests rows as they pass. */
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

/** Engines give small integers as numbers or bigints; what they say is the same. */
function asText(value: unknown): string | null {
  return value === null ? null : String(value);
}
