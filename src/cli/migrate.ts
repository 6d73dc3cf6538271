import { createHash } from "node:crypto";
import { readConfig } from "../config.ts";
import { ServiceError } from "../domain/running/errors.ts";
import type { Store } from "../domain/store.ts";
import type { RowsOf } from "../domain/verification/store.ts";
import type { Verification } from "../domain/verification/verify.ts";
import { systemClock } from "../opening/engines.ts";
import { assertStoreFile, lockStore, openExistingStore, openToFill } from "../opening/stores.ts";
import { print } from "../output.ts";
import { tables } from "../store/tables.ts";
import { command, json } from "./command.ts";
import { beginChange, endChange } from "./interruption.ts";
import { withLedgerProgress } from "./progress.ts";
import { printCreated } from "./store-command.ts";
import { printFaults, verifyWithProgress } from "./verify.ts";

/**
 * Copies a whole store to another database, compares every row of every table, and recomputes the
 * inventory from the ledger. The target gets a new epoch. With the epoch of the source, the two
 * stores would have different content under the same ETag as soon as the source changes.
 */
export const migrateCommand = command({
  name: "migrate-store",
  summary: "Copies a store to an empty database.",
  examples: [
    "petstore migrate-store --from sqlite:./data/production.db --to postgres://db.example/petstore",
  ],
  flags: {
    from: {
      placeholder: "DATABASE",
      required: true,
      description: "Database to copy: sqlite:PATH or postgres://HOST/NAME.",
    },
    to: {
      placeholder: "DATABASE",
      required: true,
      description: "Empty database to copy to: sqlite:PATH or postgres://HOST/NAME.",
    },
    json,
  },
  changes: true,
  settings: ["configFile", "environment"],
  async run({ flags, settings }) {
    if (flags.from === flags.to) {
      throw new ServiceError("invalid_request", "--from and --to must be different databases");
    }
    const source = readConfig({ ...settings, ...flags }, undefined, "from");
    const target = readConfig({ ...settings, ...flags }, undefined, "to");
    await using opened = new AsyncDisposableStack();
    // A lock creates the file. A wrong path must not become an empty source, nor leave a target.
    await assertStoreFile(source);
    opened.defer(lockStore(source));
    // Its copy needs the whole history of its epochs, which is completed when a store is opened for writing.
    const from = await openExistingStore(source, systemClock, "writes");
    opened.defer(() => from.close());
    opened.defer(lockStore(target));
    const to = await openToFill(target, systemClock, printCreated);
    opened.defer(() => to.close());
    // Without `await`, the stores would be closed before the copy ends.
    const copied = await copyAndCompare(from, to);
    const { different, verified } = copied;
    if (flags.json) print(JSON.stringify(copied));
    else printCopy(copied);
    return different.length === 0 && verified.faultCount === 0 ? 0 : 1;
  },
});

interface Copy {
  /** The number of rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
  /** The tables whose rows differ from those of the source. */
  readonly different: readonly string[];
  readonly verified: Verification;
}

async function copyAndCompare(from: Store, to: Store): Promise<Copy> {
  const sent = await from.transfer.snapshot((snapshot) =>
    withLedgerProgress("Copying the ledger", snapshot, async (rowsOf) => {
      const counted = createTally(rowsOf);
      await to.transfer.importTables(untilCommit(counted.rowsOf));
      return counted.tallies();
    }),
  );
  endChange();
  const stored = await to.transfer.snapshot((snapshot) =>
    withLedgerProgress("Comparing the ledger", snapshot, async (rowsOf) => {
      const counted = createTally(rowsOf);
      for (const { name } of tables) for await (const _ of counted.rowsOf(name));
      return counted.tallies();
    }),
  );
  const verified = await to.transfer.snapshot((snapshot) => verifyWithProgress(snapshot));
  const names = tables.map(({ name }) => name);
  return {
    rows: Object.fromEntries(names.map((name) => [name, sent[name]!.rows])),
    different: names.filter((name) => sent[name]!.digest !== stored[name]!.digest),
    verified,
  };
}

/** The copy may be interrupted until its last row was read. Then the target commits. */
function untilCommit(rowsOf: RowsOf): RowsOf {
  return async function* read(name) {
    yield* rowsOf(name);
    if (name === tables.at(-1)!.name) beginChange();
  };
}

function printCopy({ rows, different, verified }: Copy): void {
  for (const name of different) print(`table ${name}: the copy differs from the source`);
  if (verified.faultCount > 0) printFaults(verified);
  if (different.length > 0 || verified.faultCount > 0) return;
  const counts = Object.entries(rows).map(([name, count]) => `${count} ${name}`);
  print(`Copied and compared every row: ${counts.join(", ")}.`);
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
