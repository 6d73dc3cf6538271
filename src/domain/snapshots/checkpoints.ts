import { randomUUID } from "node:crypto";
import type { LedgerParts } from "../ledger/store.ts";
import { every, shared, whileAvailable } from "../running/background.ts";
import type { Log } from "../running/events.ts";
import { packPart } from "./parts.ts";
import { inventoryAt } from "./snapshots.ts";
import type { Checkpoint, CheckpointStore } from "./store.ts";

export interface CheckpointOptions {
  readonly store: Pick<LedgerParts, "inventory"> & { readonly checkpoints: CheckpointStore };
  readonly log: Log;
  /** The least number of rows between two checkpoints. */
  readonly rowsMin: number;
}

/** Often enough: a checkpoint that is late only means that more rows are read. */
const everyMs = 5_000;

/** Removed in one transaction: a few megabytes. */
const partsRemovedMax = 16;

/**
 * The row of the next checkpoint. The distance grows with the inventory, so that checkpoints take
 * less space than the ledger. It depends only on the last one, so that every process chooses the
 * same rows.
 */
export function nextCheckpointSeq(last: Checkpoint | undefined, rowsMin: number): number {
  const { seq, entries } = last ?? { seq: 0, entries: 0 };
  return seq + Math.max(rowsMin, Math.ceil(entries / 2));
}

/**
 * Adds checkpoints in the background. The inventory of any moment is then the last checkpoint
 * before it and the rows in between, however long the ledger is.
 */
export function startCheckpoints({ store, log, rowsMin }: CheckpointOptions) {
  const { inventory, checkpoints } = store;
  const writer = randomUUID();
  const stopping = new AbortController();

  async function addDue(): Promise<void> {
    while (!stopping.signal.aborted) {
      const head = await inventory.readHead();
      const seq = nextCheckpointSeq(await checkpoints.findCheckpoint(head.seq), rowsMin);
      if (seq > head.seq || !(await checkpoints.claim(writer))) return;
      if (!(await removeUnfinished()) || !(await add({ epoch: head.epoch, seq }))) return;
    }
  }

  /** Removes what a process left behind that was killed or lost its connection. */
  async function removeUnfinished(): Promise<boolean> {
    let removed: number | false;
    do removed = await checkpoints.removeUnfinished(writer, partsRemovedMax);
    while (removed === partsRemovedMax);
    return removed !== false;
  }

  async function add(position: { epoch: string; seq: number }): Promise<boolean> {
    let entries = 0;
    for await (const slice of await inventoryAt(store, position, stopping.signal)) {
      if (stopping.signal.aborted) return false;
      const part = { firstPetId: slice.petIds[0]!, data: packPart(slice) };
      if (!(await checkpoints.addPart(writer, position.seq, part))) return false;
      entries += slice.count;
    }
    return checkpoints.complete(writer, position, entries);
  }

  const run = shared(addDue);
  const stopTimer = every(everyMs, "adding checkpoints", log, whileAvailable(run));
  return {
    /** Adds every checkpoint that is due. Does nothing while another process adds them. */
    run,
    /** Stops after the step that is running. */
    async stop(): Promise<void> {
      stopTimer();
      stopping.abort();
      // The running step ends soon, and no other starts.
      await run().catch(() => {});
    },
  };
}
