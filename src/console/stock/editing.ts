import { batch, computed, signal } from "@preact/signals";
import { ApiError, createIdempotencyKey, messageOf, request } from "../client/api.ts";
import { listen } from "../client/live.ts";
import { may, onSignOut, session } from "../client/session.ts";
import type { LedgerRow, PetStatus, VersionedItem } from "../client/types.ts";
import { announce, showError, showSuccess } from "../page/messages.ts";
import { isNarrow } from "../parts/layout.ts";
import { whoOf } from "../parts/origins.ts";
import { closedByScan } from "../parts/scans.ts";
import { capitalized, formatCount } from "../texts/formats.ts";
import { leaveEdit } from "./focus.ts";
import { parseAddition } from "./quantities.ts";
import { readChange } from "./quantity-reader.tsx";
import { indexOfPet, table, touched } from "./state.ts";
import type { Entry } from "./table.ts";

/** An edit in progress. Nothing that arrives changes what the person typed. */
export interface Editing {
  /** The entry as it was when the edit began, or when the person decided to overwrite a change. */
  readonly base: Entry;
  readonly field: "quantity" | "status";
  /** True if the edit began on a phone, in a sheet. Only a tap opens a sheet, because it takes the focus. */
  readonly isInSheet: boolean;
  /** True until the fields in the row have got the focus. They take it once, when the edit begins. */
  readonly wantsFocus: boolean;
  readonly quantity: string;
  readonly status: PetStatus;
  readonly reason: string;
  /** What somebody else wrote meanwhile. The person decides before anything is saved. */
  readonly theirs: LedgerRow | undefined;
  readonly isSaving: boolean;
  readonly error: string;
}

export const editing = signal<Editing | undefined>(undefined);
closedByScan(editing);

/** Where the edit is: in its sheet, in its row, or nowhere while the row is not in the list. */
export const editPlace = computed<"sheet" | "row" | "hidden">(() => {
  const edit = editing.value;
  if (edit?.isInSheet) return "sheet";
  const isListed = edit !== undefined && indexOfPet(edit.base.petId) >= 0;
  return isListed && !isNarrow.value ? "row" : "hidden";
});

/** `typed` is the key that started the edit, if that was a digit or a sign. */
function startEditing(row: number, field: Editing["field"], typed?: string): void {
  const base = table.value.entryAt(row);
  editing.value = {
    base,
    field,
    isInSheet: isNarrow.value,
    wantsFocus: !isNarrow.value,
    quantity: typed ?? String(base.quantity),
    status: base.status,
    reason: "",
    theirs: undefined,
    isSaving: false,
    error: "",
  };
}

/** Starts to edit a row or, on a phone, goes on with its edit. No edit is lost for another one. */
export function tryEditing(row: number, field: Editing["field"], typed?: string): void {
  if (!may("clerk")) return;
  const edit = editing.value;
  if (edit && isDirty(edit) && isNarrow.value && edit.base.petId === table.value.ids[row]) {
    changeEditing({ isInSheet: true });
  } else if (edit && isDirty(edit)) {
    changeEditing({ error: "Save or cancel this edit first." });
    announce(`Save or cancel the edit of ${edit.base.name} first.`);
  } else startEditing(row, field, typed);
}

export function isDirty({ base, quantity, status, reason, theirs, isSaving }: Editing): boolean {
  const isChanged = quantity !== String(base.quantity) || status !== base.status || reason !== "";
  return isChanged || theirs !== undefined || isSaving;
}

export function changeEditing(fields: Partial<Editing>): void {
  if (editing.value) editing.value = { ...editing.value, error: "", ...fields };
}

/** Drops what the person typed. */
export function cancelEditing(): void {
  const edit = editing.value;
  editing.value = undefined;
  if (edit) leave(edit);
}

/** Gives the focus back. A sheet does so by itself. */
function leave({ base, field, isInSheet }: Editing): void {
  if (!isInSheet) leaveEdit(base.petId, field);
}

/** Saves what the person typed. The edit ends when it is saved. */
export async function saveEditing(): Promise<void> {
  const edit = editing.value;
  if (!edit || edit.isSaving || edit.theirs) return;
  const read = await readChange(edit.quantity, [edit.base]).catch((error) =>
    changeEditing({ error: messageOf(error) }),
  );
  // Somebody else may have changed the entry while the question was open.
  if (!read || editing.value !== edit) return;
  const { quantity, delta } = read;
  changeEditing({ isSaving: true });
  const { value: sender } = session;
  const { base, status, reason } = edit;
  const body = {
    quantity,
    delta,
    status: status === base.status ? undefined : status,
    reason: reason.trim() || undefined,
    expectedVersion: fitsAnyStock(edit) ? undefined : base.version,
  };
  try {
    const saved = await request<VersionedItem>(`/stock/${base.petId}`, {
      method: "PATCH",
      body,
      idempotencyKey: keyOf(JSON.stringify([base, body])),
    });
    // The toast could undo the change in the name of the next person.
    if (session.value !== sender) return;
    // The person may have cancelled, and edit another row by now.
    const isOpen = isEdited(base);
    batch(() => {
      table.value.update(saved);
      if (isOpen) editing.value = undefined;
      touched();
    });
    report(delta === undefined ? base : { ...base, quantity: saved.quantity - delta }, saved);
    if (isOpen) leave(edit);
  } catch (error) {
    await failed(base, error);
  }
}

/** A difference is right whatever others do to the quantity. A status is not. */
function fitsAnyStock({ base, quantity, status }: Editing): boolean {
  return parseAddition(quantity) !== undefined && status === base.status;
}

let lastSave = { text: "", key: "" };

/**
 * The same save keeps its key. If the response was lost, saving again returns the first result, and
 * not a conflict with oneself. The same difference a second time has another base, so it is added again.
 */
function keyOf(text: string): string {
  if (lastSave.text !== text) lastSave = { text, key: createIdempotencyKey() };
  return lastSave.key;
}

function report(base: Entry, saved: VersionedItem): void {
  const [quantity, status] = [formatCount(saved.quantity), capitalized(saved.status)];
  const parts = [
    saved.quantity !== base.quantity && `${formatCount(base.quantity)} → ${quantity}`,
    saved.status !== base.status && `${capitalized(base.status)} → ${status}`,
  ];
  const text = parts.filter(Boolean).join(", ") || `${quantity} confirmed`;
  showSuccess(`${base.name}: ${text}`, { label: "Undo", run: () => void undo(saved.version) });
}

async function undo(seq: number): Promise<void> {
  try {
    await request(`/changes/${seq}/undo`, { method: "POST", body: {} });
    announce("Undone");
  } catch (error) {
    showError(error);
  }
}

async function failed(base: Entry, error: unknown): Promise<void> {
  const isConflict = error instanceof ApiError && error.code === "version_conflict";
  const theirs = isConflict ? await lastChangeOf(base.petId) : undefined;
  if (!isEdited(base)) return;
  changeEditing({ isSaving: false, ...(theirs ? { theirs } : { error: messageOf(error) }) });
}

/** Whether the edit that began with this entry is still open. */
function isEdited(base: Entry): boolean {
  return editing.value?.base === base;
}

async function lastChangeOf(petId: string): Promise<LedgerRow | undefined> {
  const path = `/stock/${petId}/history?limit=1`;
  const [last] = await request<readonly LedgerRow[]>(path).catch(() => []);
  return last;
}

/** Keeps what the person typed and lets it replace the other change. */
export async function keepMine(): Promise<void> {
  const edit = editing.value;
  if (!edit?.theirs?.after) return;
  const base = { ...edit.base, ...edit.theirs.after, version: edit.theirs.seq };
  editing.value = { ...edit, base, theirs: undefined };
  await saveEditing();
}

export function takeTheirs(): void {
  cancelEditing();
  announce("Your change was dropped.");
}

listen({
  rows(changes) {
    for (const change of changes) noticeChange(change);
  },
});

/** Tells the person if somebody else changes the edited entry. */
function noticeChange(change: LedgerRow): void {
  const edit = editing.value;
  if (change.petId !== edit?.base.petId || change.seq <= edit.base.version || edit.isSaving) return;
  if (fitsAnyStock(edit)) return;
  changeEditing({ theirs: change });
  const { after } = change;
  const what = after
    ? `changed this entry meanwhile: ${formatCount(after.quantity)}, ${capitalized(after.status)}`
    : "removed this entry meanwhile";
  announce(`${whoOf(change)} ${what}.`);
}

onSignOut(() => (editing.value = undefined));
