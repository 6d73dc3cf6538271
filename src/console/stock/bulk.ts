import { effect } from "@preact/signals";
import { onSignOut } from "../client/session.ts";
import type { PetStatus, StockChange } from "../client/types.ts";
import { showError, showSuccess } from "../page/messages.ts";
import { countOf, formatCount } from "../texts/formats.ts";
import { type Batch, countChanges, Sending, toBatches } from "./batches.ts";
import { clearSelection, selected } from "./selection.ts";
import { table } from "./state.ts";

/** What to do with every selected row. */
export interface BulkChange {
  readonly set?: number;
  readonly add?: number;
  readonly status?: PetStatus;
  readonly reason: string;
}

export const bulk = new Sending();

export async function applyToSelected(change: BulkChange): Promise<void> {
  const { value: entries } = table;
  const rows = [...selected.value];
  const common = {
    ...(change.status ? { status: change.status } : {}),
    ...(change.reason === "" ? {} : { reason: change.reason }),
  };
  const changes = rows.map((row): StockChange => {
    const petId = entries.ids[row]!;
    // A new number replaces only what the person saw. A difference fits any number.
    return change.set === undefined
      ? { petId, delta: change.add ?? 0, ...common }
      : { petId, quantity: change.set, expectedVersion: entries.versions[row]!, ...common };
  });
  await sendBulk(toBatches(changes));
}

/** Sends changes, or what is left of them after the connection was lost. Nothing is applied twice. */
export async function sendBulk(batches: readonly Batch[]): Promise<void> {
  let applied = 0;
  const isSent = await bulk.send(batches, ({ changes }) => {
    applied += changes.length;
  });
  if (isSent) {
    clearSelection();
    showSuccess(`Changed ${countOf(countChanges(batches), "entry", "entries")}`);
    return;
  }
  const { error, rest } = bulk;
  if (error.value === "") return;
  if (applied > 0) error.value = `${formatCount(applied)} entries were changed. ${error.value}`;
  // If no row is selected any more, the bar does not show the error.
  if (selected.value.size > 0 || rest.value.length > 0) return;
  showError(error.value);
  error.value = "";
}

// An error is about the rows that were selected when it occurred.
effect(() => {
  if (selected.value.size > 0) return;
  if (!bulk.progress.peek() && bulk.rest.peek().length === 0) bulk.error.value = "";
});

// The service knows a repeated batch only by the same key, so the next person must not send the rest.
onSignOut(() => bulk.clear());
