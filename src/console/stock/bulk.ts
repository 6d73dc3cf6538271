import { effect, signal } from "@preact/signals";
import { messageOf } from "../client/api.ts";
import { session } from "../client/session.ts";
import type { PetStatus } from "../client/types.ts";
import { showError, showSuccess } from "../page/toasts.ts";
import { formatCount } from "../texts/numbers.ts";
import { type Batch, type BatchChange, isUncertain, sendBatches, toBatches } from "./batches.ts";
import { clearSelection, selected } from "./selection.ts";
import { table } from "./state.ts";

/** What to do with every selected row. */
export interface BulkChange {
  readonly set?: number;
  readonly add?: number;
  readonly status?: PetStatus;
  readonly reason: string;
}

export interface BulkState {
  /** Changes sent, and all of them. Undefined if nothing is being sent. */
  readonly progress: { readonly applied: number; readonly total: number } | undefined;
  readonly error: string;
  /** What is left after the connection was lost. It is sent again as it was. */
  readonly rest: readonly Batch[];
}

const idle: BulkState = { progress: undefined, error: "", rest: [] };
export const bulk = signal<BulkState>(idle);

export async function applyToSelected(change: BulkChange): Promise<void> {
  const { value: entries } = table;
  const rows = [...selected.value];
  const common = {
    ...(change.status ? { status: change.status } : {}),
    ...(change.reason === "" ? {} : { reason: change.reason }),
  };
  const changes = rows.map((row): BatchChange => {
    const petId = entries.ids[row]!;
    // A new number replaces only what the person saw. A difference fits any number.
    return change.set === undefined
      ? { petId, delta: change.add ?? 0, ...common }
      : { petId, quantity: change.set, expectedVersion: entries.versions[row]!, ...common };
  });
  await send(toBatches(changes));
}

/** Sends what is left after the connection was lost. Nothing is applied twice. */
export async function continueBulk(): Promise<void> {
  await send(bulk.value.rest);
}

export function dropRest(): void {
  bulk.value = idle;
}

async function send(batches: readonly Batch[]): Promise<void> {
  const total = batches.reduce((sum, { changes }) => sum + changes.length, 0);
  let applied = 0;
  let rest = batches;
  bulk.value = { ...idle, progress: { applied, total } };
  try {
    const isSent = await sendBatches(batches, (batch) => {
      applied += batch.changes.length;
      rest = rest.slice(1);
      bulk.value = { ...idle, progress: { applied, total } };
    });
    if (!isSent) return;
    bulk.value = idle;
    clearSelection();
    showSuccess(`Changed ${formatCount(total)} ${total === 1 ? "entry" : "entries"}`);
  } catch (error) {
    const before = applied > 0 ? `${formatCount(applied)} entries were changed. ` : "";
    const text = `${before}${messageOf(error)}`;
    bulk.value = { ...idle, error: text, rest: isUncertain(error) ? rest : [] };
    // The table was loaded again meanwhile: without selected rows, the bar does not show the error.
    if (selected.value.size === 0 && bulk.value.rest.length === 0) {
      bulk.value = idle;
      showError(text);
    }
  }
}

// An error is about the rows that were selected when it occurred.
effect(() => {
  if (selected.value.size > 0) return;
  const { progress, rest } = bulk.peek();
  if (!progress && rest.length === 0) bulk.value = idle;
});

// The service knows a repeated batch only by the same key, so the next person must not send the rest.
effect(() => {
  if (session.value.kind === "out") dropRest();
});
