import { join } from "node:path";
import { countAllRows, type Manifest } from "../../backup/manifest.ts";
import type { Config } from "../../config.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { Store } from "../../domain/store.ts";
import { scratchStore } from "../../folders.ts";
import { systemClock } from "../../opening/engines.ts";
import { findStore, openExistingStore, openToFill } from "../../opening/stores.ts";
import { beginChange, endChange } from "../interruption.ts";
import { countingRows, createProgress } from "../progress.ts";
import { printCreated } from "../store-command.ts";
import { printFaults, verifyWithProgress } from "../verify.ts";
import type { RestoreTo } from "./restored-store.ts";
import { inScratchFolder } from "./scratch.ts";

/**
 * Restores a backup to an empty PostgreSQL database. It is first restored to a SQLite file in a
 * scratch folder, and copied from there in one transaction. Then the database is verified too. Returns
 * undefined if that finds faults.
 */
export async function restoreToDatabase(
  restore: RestoreTo,
  config: Config,
  scratchParent: string,
): Promise<Manifest | undefined> {
  await assertEmpty(config);
  return inScratchFolder(scratchParent, async (folder) => {
    const path = join(folder, scratchStore);
    const { manifest } = await restore(path);
    await using opened = new AsyncDisposableStack();
    const scratch = { ...config, databaseUrl: `sqlite:${path}` };
    const source = await openExistingStore(scratch, systemClock, "writes");
    opened.defer(() => source.close());
    const target = await openToFill(config, systemClock, printCreated);
    opened.defer(() => target.close());
    beginChange();
    await copy(source, target, countAllRows(manifest));
    endChange();
    return (await isSame(target, manifest)) ? manifest : undefined;
  });
}

/** A store with a row in one of these tables is not empty. */
const contentTables = ["ledger", "pets", "keys", "orders", "webhooks"];

/** Checked before the long work, and again by the copy. */
async function assertEmpty(config: Config): Promise<void> {
  const store = await findStore(config, systemClock, "reads");
  if (!store) return;
  try {
    await store.transfer.snapshot(async ({ rowsOf }) => {
      for (const table of contentTables) {
        for await (const _ of rowsOf(table)) throw notEmpty(table);
      }
    });
  } finally {
    await store.close();
  }
}

function notEmpty(table: string): ServiceError {
  const remedy = "restore to a new database, and give its address to --database";
  return new ServiceError(
    "invalid_request",
    `the database is not empty: ${table} has rows; ${remedy}`,
  );
}

async function copy(source: Store, target: Store, rows: number): Promise<void> {
  using progress = createProgress("Copying to the database", rows);
  await source.transfer.snapshot(({ rowsOf }) =>
    target.transfer.importTables(countingRows(rowsOf, progress)),
  );
}

async function isSame(target: Store, { seq, hash }: Manifest): Promise<boolean> {
  const found = await target.transfer.snapshot((snapshot) => verifyWithProgress(snapshot));
  if (found.faultCount > 0) printFaults(found);
  return found.faultCount === 0 && found.seq === seq && found.hash === hash;
}
