import { type Actor, commandLine } from "../audit/audit.ts";
import { isQuantity } from "../ledger/append.ts";
import { epochOf, isInHistory, type Position, positionOf } from "../ledger/epochs.ts";
import type { Stock } from "../ledger/inventory.ts";
import type { Cause, Change, LedgerRow } from "../ledger/ledger.ts";
import { InvalidField } from "../running/errors.ts";
import { isReason, reasonRule } from "../values/texts.ts";
import type { UndoStore } from "./undo.ts";

/**
 * Which ledger rows to undo: all of one request (a batch, a delivery, a count, an import), or those of
 * one key between two times. Rows at `from` are included, rows at `to` are not.
 */
export type Selection =
  | { readonly requestId: string }
  | {
      readonly keyId: string;
      readonly from: number;
      readonly to: number;
      readonly petId?: bigint | undefined;
      readonly cause?: Cause | undefined;
    };

/**
 * What an undo does with a pet. Those that are listed first need a decision or an explanation.
 * `changed`: other changes followed the first selected one. Undone only if the person includes it.
 * `negative`: taking the changes back would leave less than 0, or more than a quantity can be.
 * `undone`: an undo followed. Taking the changes back again would count them twice.
 * `created`, `removed`: the pet was added or removed, so there is no earlier or no current stock.
 * `unchanged`: nothing else has changed the pet since, so it gets its earlier stock.
 * `same`: the selected changes left the stock as it was.
 */
export const marks = [
  "changed",
  "negative",
  "undone",
  "created",
  "removed",
  "unchanged",
  "same",
] as const;
export type Mark = (typeof marks)[number];

export interface UndonePet {
  readonly petId: bigint;
  readonly mark: Mark;
  /** The stock without the undo. Null if the pet was removed. */
  readonly from: Stock | null;
  /** The stock with the undo. Null if the pet cannot be undone. */
  readonly to: Stock | null;
}

export interface TogetherOptions {
  /** Shows what would be undone, and changes nothing. */
  readonly isDryRun: boolean;
  /** Also undoes pets that other changes followed. */
  readonly includesChanged: boolean;
  /** The end of the ledger that a dry run saw. The undo is refused if one of its pets changed later. */
  readonly asOf?: Position | undefined;
  readonly reason?: string | undefined;
  /** Who undoes the changes. A command unless given. */
  readonly actor?: Actor | undefined;
}

export type TogetherOutcome =
  | {
      readonly kind: "previewed" | "undone";
      readonly asOf: Position;
      /** The selected ledger rows. */
      readonly rows: number;
      readonly counts: Readonly<Record<Mark, number>>;
      /** Pets with a new row. */
      readonly undone: number;
      readonly pets: readonly UndonePet[];
    }
  /** No row was selected. */
  | { readonly kind: "not_found" }
  /** More pets than one transaction can take. `before` is the last row before the selected ones. */
  | { readonly kind: "too_many"; readonly before: number }
  /** Something has changed since the dry run. Nothing was undone. */
  | { readonly kind: "changed_since" };

/** An undo that the service makes for an operator. */
export interface UndoRun {
  readonly selection: Selection;
  readonly options: TogetherOptions;
}

export interface UndoRunner {
  /** Resolves with the outcome as JSON. Throws `already_running` while another undo is being made. */
  run(request: UndoRun, signal: AbortSignal): Promise<string>;
}

/**
 * Pets in one undo. The transaction holds the head for about a second then, and updates wait for five.
 */
export const petsUndoneMax = 100_000;

/** How many pets are listed. The counts include all. */
export const petsListedMax = 200;

const rowsAtOnce = 5_000;

/**
 * Takes back the selected changes, as one unit of new rows: all are stored, or none. From the quantity
 * of each pet it subtracts the sum of its selected changes, so sales and deliveries since then are kept.
 */
export async function undoTogether(
  store: UndoStore,
  selection: Selection,
  options: TogetherOptions,
): Promise<TogetherOutcome> {
  const { isDryRun, includesChanged, reason = reasonOf(selection), actor = commandLine } = options;
  if (!isReason(reason)) throw new InvalidField("reason", reasonRule);
  // Read before the rows. If the store is replaced in between, the epochs of the rows no longer match.
  const epochs = await store.inventory.listEpochs();
  const { seq: end } = await store.history.readTip();
  const asOf = options.asOf ?? positionOf(epochs, end)!;
  if (!isInHistory(epochs, end, asOf)) return { kind: "changed_since" };
  const before = await rowBefore(store, selection, asOf.seq);
  const found = await collect(store, selection, { after: before, asOf: asOf.seq, end });
  if (found.rows === 0) return { kind: "not_found" };
  if (found.pets.size > petsUndoneMax) return { kind: "too_many", before };
  const counts = Object.fromEntries(marks.map((mark) => [mark, 0])) as Record<Mark, number>;
  const changes: Change[] = [];
  const listed = marks.map((): UndonePet[] => []);
  for (const [petId, touched] of found.pets) {
    if (touched.version > asOf.seq) return { kind: "changed_since" };
    const pet = planOf(petId, touched);
    counts[pet.mark] += 1;
    const alike = listed[marks.indexOf(pet.mark)]!;
    if (alike.length < petsListedMax) alike.push(pet);
    if (pet.mark !== "unchanged" && !(includesChanged && pet.mark === "changed")) continue;
    const { quantity: amount, status } = pet.to!;
    const expected = [{ seq: touched.version, epoch: epochOf(epochs, touched.version) }];
    changes.push({ petId, kind: "set", amount, status, expected, reason });
  }
  const pets = listed.flat().slice(0, petsListedMax);
  const result = { asOf, rows: found.rows, counts, undone: changes.length, pets };
  if (isDryRun || changes.length === 0)
    return { kind: isDryRun ? "previewed" : "undone", ...result };
  const { keyId, requestId } = actor;
  const outcome = await store.submit({ changes, cause: "undo", keyId, requestId });
  return outcome.kind === "stored" ? { kind: "undone", ...result } : { kind: "changed_since" };
}

function reasonOf(selection: Selection): string {
  return "requestId" in selection
    ? `undo of request ${selection.requestId}`
    : `undo of changes by ${selection.keyId}`;
}

/**
 * The last row before the selected ones. No index finds rows by their request, so this searches from
 * the end of the ledger. A request is stored in one transaction, so its rows follow each other.
 */
async function rowBefore(
  { inventory, history }: UndoStore,
  selection: Selection,
  asOf: number,
): Promise<number> {
  if (!("requestId" in selection)) return history.seqAt(selection.from - 1);
  let found: number | undefined;
  for (let end = asOf; end > 0; end -= rowsAtOnce) {
    const start = Math.max(0, end - rowsAtOnce);
    const rows = await inventory.ledgerAfter(start, end - start);
    const first = rows.find(({ requestId }) => requestId === selection.requestId);
    found = first ? first.seq - 1 : found;
    // Otherwise its rows may begin in the slice before this one.
    if (found !== undefined && found > start) return found;
  }
  return found ?? asOf;
}

/** What happened to a pet, from its first selected row to the end of the ledger. */
interface Touched {
  /** The stock before the first selected row. */
  first: Stock | null;
  /** The sum of the selected changes. NaN if a number cannot hold it. */
  delta: number;
  /** The stock after the last selected row. */
  left: Stock | null;
  /** The stock after the last row, and the number of that row. */
  now: Stock | null;
  version: number;
  mark: Mark;
}

interface Bounds {
  readonly after: number;
  /** Later rows are not selected. */
  readonly asOf: number;
  readonly end: number;
}

/** Reads the selected rows and all that follow, in slices, and keeps one record per pet. */
async function collect(
  { inventory }: UndoStore,
  selection: Selection,
  { after, asOf, end }: Bounds,
): Promise<{ readonly rows: number; readonly pets: ReadonlyMap<bigint, Touched> }> {
  const pets = new Map<bigint, Touched>();
  let rows = 0;
  for (let seq = after; seq < end && pets.size <= petsUndoneMax; seq += rowsAtOnce) {
    for (const row of await inventory.ledgerAfter(seq, Math.min(rowsAtOnce, end - seq))) {
      const isSelected = row.seq <= asOf && isIn(selection, row);
      if (isSelected) rows += 1;
      const known = pets.get(row.petId);
      // What was undone is settled. Changes that the selection made after that are not.
      if (isSelected && (!known || known.mark === "undone")) pets.set(row.petId, firstOf(row));
      else if (known) follow(known, row, isSelected);
    }
  }
  return { rows, pets };
}

function isIn(selection: Selection, { requestId, keyId, petId, cause, at }: LedgerRow): boolean {
  if ("requestId" in selection) return requestId === selection.requestId;
  return (
    keyId === selection.keyId &&
    at >= selection.from &&
    at < selection.to &&
    petId === (selection.petId ?? petId) &&
    cause === (selection.cause ?? cause)
  );
}

function firstOf({ before, after, seq }: LedgerRow): Touched {
  const mark = !before ? "created" : after ? "unchanged" : "removed";
  const delta = (after?.quantity ?? 0) - (before?.quantity ?? 0);
  return { first: before, delta, left: after, now: after, version: seq, mark };
}

/** Adds a later row of the same pet. */
function follow(pet: Touched, row: LedgerRow, isSelected: boolean): void {
  const { before, after, seq, cause } = row;
  pet.now = after;
  pet.version = seq;
  if (pet.mark === "created" || pet.mark === "removed") return;
  if (!after || !before) pet.mark = after ? "created" : "removed";
  else if (isSelected) {
    const sum = pet.delta + (after.quantity - before.quantity);
    pet.delta = Number.isSafeInteger(sum) ? sum : Number.NaN;
    pet.left = after;
  } else if (cause === "undo") pet.mark = "undone";
  else if (pet.mark === "unchanged") pet.mark = "changed";
}

function planOf(petId: bigint, { first, delta, left, now, mark }: Touched): UndonePet {
  if (mark !== "unchanged" && mark !== "changed") return { petId, mark, from: now, to: null };
  const quantity = now!.quantity - delta;
  if (!isQuantity(quantity)) return { petId, mark: "negative", from: now, to: null };
  // A status that somebody else has set since then is kept.
  const status = now!.status === left!.status ? first!.status : now!.status;
  const isSame = quantity === now!.quantity && status === now!.status;
  return { petId, mark: isSame ? "same" : mark, from: now, to: { quantity, status } };
}
