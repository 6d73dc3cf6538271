// Opens what a disk has after a power failure with the real code. Runs as a worker, one for each core.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { restoreAndVerify } from "../../src/cli/backups/restored-store.ts";
import { readConfig } from "../../src/config.ts";
import type { Store } from "../../src/domain/store.ts";
import { systemClock } from "../../src/opening/engines.ts";
import { lockForServing } from "../../src/store/sqlite/engine/serving-lock.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import type { Found } from "../load.ts";
import { contentOf } from "../store.ts";

/** What is in an image: the paths of stores and of a backup, from its folder. */
export interface Things {
  readonly stores: readonly string[];
  readonly backup?: string;
  /** Whether a digest is made of all. */
  readonly areCompared: boolean;
}

export interface Inspection {
  /** Whether there was a file of that name. A missing store is created, as the next start does. */
  readonly isThere: boolean;
  /** Why it cannot be opened, and what `petstore verify` finds. */
  readonly faults: readonly string[];
  readonly found?: Found;
  /** The same if, and only if, all that an operator would miss is the same. */
  readonly digest?: string;
}

/** What counts as the content of a store: not what every start adds, such as an epoch. */
const compared = ["pets", "inventory", "ledger", "orders", "keys", "secrets", "bans", "webhooks"];

async function inspectStore(path: string, isCompared = true): Promise<Inspection> {
  const isThere = existsSync(path);
  try {
    // As a service does, which removes what a restore has left.
    if (isThere) lockForServing(path)();
    const options = { path, environment: "production", clock: systemClock } as const;
    const store = await openSqlite({ ...options, threaded: false });
    try {
      const { faults, found } = await contentOf(store);
      return { isThere, faults, found, ...(isCompared && { digest: await digestOf(store) }) };
    } finally {
      await store.close();
    }
  } catch (error) {
    return { isThere, faults: [`it cannot be opened: ${error}`] };
  }
}

function digestOf({ transfer }: Store): Promise<string> {
  return transfer.snapshot(async ({ rowsOf }) => {
    const hash = createHash("sha256");
    for (const table of compared) {
      for await (const rows of rowsOf(table))
        for (const row of rows) hash.update(JSON.stringify(row.map(String)));
    }
    return hash.digest("hex");
  });
}

/** As `petstore drill` does. */
async function inspectBackup(path: string): Promise<Inspection> {
  if (!existsSync(path)) return { isThere: false, faults: [] };
  const scratch = `${path}.db`;
  try {
    await restoreAndVerify(path, scratch, readConfig({ database: `sqlite:${scratch}` }, {}));
    return await inspectStore(scratch);
  } catch (error) {
    return { isThere: true, faults: [`it cannot be restored: ${error}`] };
  }
}

/** What the image of a recording has: its stores, and then its backup. */
export async function inspect(folder: string, things: Things): Promise<Inspection[]> {
  const { stores, backup, areCompared } = things;
  const found: Inspection[] = [];
  for (const store of stores) found.push(await inspectStore(join(folder, store), areCompared));
  if (backup !== undefined) found.push(await inspectBackup(join(folder, backup)));
  return found;
}

declare const self: Worker;
if (!Bun.isMainThread) {
  self.onmessage = async ({ data: { folder, things } }) => {
    self.postMessage(await inspect(folder, things));
  };
}
