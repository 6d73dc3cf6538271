import { effect } from "@preact/signals";
import { onSignOut } from "../client/session.ts";
import type { StockChange } from "../client/types.ts";
import { showError, showSuccess } from "../page/messages.ts";
import { countOf, formatCount } from "../texts/formats.ts";
import { type Batch, countChanges, Sending, toBatches } from "./batches.ts";
import { clearSelection, selected } from "./selection.ts";
import { table } from "./state.ts";

export const bulk = new Sending();

/** Does the same with every selected row. */
export async function applyToSelected(change: Omit<StockChange, "petId">): Promise<void> {
  const { ids, versions } = table.value;
  const changes = [...selected.value].map((row) => ({
    petId: ids[row]!,
    // A new number replaces only what the person saw. A difference fits any number.
    ...(change.quantity === undefined ? {} : { expectedVersion: versions[row]! }),
    ...change,
  }));
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
