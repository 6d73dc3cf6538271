import type { Actor } from "../audit/audit.ts";
import { isQuantity } from "../ledger/append.ts";
import { formatCursor } from "../ledger/cursors.ts";
import { epochOf, isInHistory, type Position, positionOf } from "../ledger/epochs.ts";
import type { Stock } from "../ledger/inventory.ts";
import { type Change, type LedgerRow, stockJson } from "../ledger/ledger.ts";
import { yieldToEventLoop } from "../running/background.ts";
import { InvalidField, ServiceError } from "../running/errors.ts";
import { isReason, reasonRule } from "../values/texts.ts";
import type { UndoStore } from "./undo.ts";

/**
 * Which ledger rows to undo: all of one request (a batch, a delivery, a count, an import), or those of
 * one key between two times. Rows at `from` are included, rows at `to` are not.
 */
export type Selection =
  | { readonly requestId: string }
  | { readonly keyId: string; readonly from: number; readonly to: number };

/** What becomes of a pet, and why. Those that need a decision or an explanation are listed first. */
export const marks = {
  changed: "other changes followed, so it is left out unless you include it",
  negative: "left out, because there is too little stock to take the changes back",
  undone: "left out, because an undo followed",
  created: "left out, because the pet was added; remove the pet instead",
  removed: "left out, because the pet was removed",
  unchanged: "nothing else has changed it since, so it gets its earlier stock",
  same: "left out, because the changes left the stock as it was",
} as const;
export type Mark = keyof typeof marks;

export interface UndoneTogether {
  readonly isDryRun: boolean;
  /** The end of the ledger that this includes. */
  readonly asOf: Position;
  /** The selected ledger rows. */
  readonly rows: number;
  /** Pets that get a new row. */
  readonly undone: number;
  /** How many pets have each mark. */
  readonly counts: Readonly<Record<Mark, number>>;
  /** The first pets, with their stock without and with the undo. `to` is null if there is none. */
  readonly pets: readonly UndonePet[];
}

interface UndonePet {
  readonly petId: bigint;
  readonly mark: Mark;
  readonly from: Stock | null;
  readonly to: Stock | null;
}

export interface TogetherOptions {
  /** Shows what would be undone, and changes nothing. */
  readonly isDryRun: boolean;
  /** Also undoes pets that other changes followed. */
  readonly includesChanged: boolean;
  /** Pets that one transaction can take here. */
  readonly petsMax: number;
  /** The end of the ledger that a dry run saw. The undo is refused if one of its pets changed later. */
  readonly asOf?: Position | undefined;
  readonly reason?: string | undefined;
  readonly actor: Actor;
  /** Aborted when nobody waits for the result any more. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Pets in one undo. A service makes the rows of its PostgreSQL store between requests, which must not
 * wait for long, and a unit must fit into the queue. A command has its own process, and its transaction
 * holds the head for about a second. With 100,000 pets, PostgreSQL did not confirm it in time.
 */
export const petsUndoneMax = { service: 4_000, command: 20_000 };

/** How many pets are listed. The counts include all. */
export const petsListedMax = 200;

/** Rows that are read in one turn of the event loop. */
const rowsAtOnce = 1_000;

export const nothingFound = "No change was found.";
export const changedMeanwhile =
  "A pet has changed in the meantime. Nothing was undone. Look at a dry run again.";

const connectionGone = "The connection was closed. Nothing was undone.";

export function tooManyPets(petsMax: number, before: number): string {
  const [here, most] = [petsMax, petsUndoneMax.command].map((pets) => pets.toLocaleString("en"));
  return `These changes concern more than ${here} pets. The command petstore undo takes ${most}. For more, import the earlier stock: petstore snapshot ${before} --json | petstore pets import - --format ndjson`;
}

/**
 * Takes back the selected changes, as one unit of new rows: all are stored, or none. From the quantity
 * of each pet it subtracts the sum of its selected changes, so sales and deliveries since then are kept.
 */
export async function undoTogether(
  store: UndoStore,
  selection: Selection,
  options: TogetherOptions,
): Promise<UndoneTogether> {
  const { isDryRun, includesChanged, petsMax, actor, reason = reasonOf(selection) } = options;
  if (!isReason(reason)) throw new InvalidField("reason", reasonRule);
  // Read before the rows. If the store is replaced in between, the epochs of the rows no longer match.
  const epochs = await store.inventory.listEpochs();
  const { seq: end } = await store.history.readTip();
  const asOf = options.asOf ?? positionOf(epochs, end)!;
  const meanwhile = () => new ServiceError("version_conflict", changedMeanwhile);
  if (!isInHistory(epochs, end, asOf)) throw meanwhile();
  const before = await rowBefore(store, selection, asOf.seq, options.signal);
  const found = await collect(store, selection, { ...options, before, last: asOf.seq, end });
  if (found.rows === 0) throw new ServiceError("not_found", nothingFound);
  if (found.pets.size > petsMax) {
    throw new ServiceError("invalid_request", tooManyPets(petsMax, before));
  }
  const order = Object.keys(marks) as Mark[];
  const counts = Object.fromEntries(order.map((mark) => [mark, 0])) as Record<Mark, number>;
  const changes: Change[] = [];
  const pets: UndonePet[] = [];
  for (const [petId, touched] of found.pets) {
    if (touched.version > asOf.seq) throw meanwhile();
    const pet = planOf(petId, touched);
    pets.push(pet);
    counts[pet.mark] += 1;
    if (pet.mark !== "unchanged" && !(includesChanged && pet.mark === "changed")) continue;
    const { quantity: amount, status } = pet.to!;
    const expected = [{ seq: touched.version, epoch: epochOf(epochs, touched.version) }];
    changes.push({ petId, kind: "set", amount, status, expected, reason });
  }
  if (!isDryRun && changes.length > 0) {
    const outcome = await store.submit({ changes, cause: "undo", ...actor });
    if (outcome.kind !== "stored") throw meanwhile();
  }
  pets.sort((one, other) => order.indexOf(one.mark) - order.indexOf(other.mark));
  const [undone, listed] = [changes.length, pets.slice(0, petsListedMax)];
  return { isDryRun, asOf, rows: found.rows, undone, counts, pets: listed };
}

function reasonOf(selection: Selection): string {
  if ("requestId" in selection) return `undo of request ${selection.requestId}`;
  return `undo of changes by ${selection.keyId}`;
}

/** As commands and the operator API write it. Ids have 64 bits, so not with JSON.stringify. */
export function togetherJson({ pets, asOf, ...facts }: UndoneTogether): string {
  const listed = pets.map(
    ({ petId, mark, from, to }) =>
      `{"petId":${petId},"mark":"${mark}","why":"${marks[mark]}","from":${stockJson(from)},"to":${stockJson(to)}}`,
  );
  const text = JSON.stringify({ ...facts, asOf: formatCursor(asOf) });
  return `${text.slice(0, -1)},"pets":[${listed.join()}]}`;
}

/**
 * The last row before the selected ones. No index finds rows by their request, so this searches from
 * the end of the ledger. A request is stored in one transaction, so its rows follow each other.
 */
async function rowBefore(
  { inventory, history }: UndoStore,
  selection: Selection,
  last: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  if (!("requestId" in selection)) return history.seqAt(selection.from - 1);
  let found: number | undefined;
  for (let end = last; end > 0 && !signal?.aborted; end -= rowsAtOnce) {
    const start = Math.max(0, end - rowsAtOnce);
    const rows = await inventory.ledgerAfter(start, end - start);
    const first = rows.find(({ requestId }) => requestId === selection.requestId);
    found = first ? first.seq - 1 : found;
    // Otherwise its rows may begin in the slice before this one.
    if (found !== undefined && found > start) return found;
    await yieldToEventLoop();
  }
  return found ?? last;
}

/** What happened to a pet, from its first selected row to the end of the ledger. */
interface Touched {
  /** The stock before the first selected row, and after the last one. */
  readonly first: Stock | null;
  left: Stock | null;
  /** The sum of the selected changes. NaN if a number cannot hold it. */
  delta: number;
  /** The stock after the last row, and the number of that row. */
  now: Stock | null;
  version: number;
  mark: Mark;
}

interface Span extends Pick<TogetherOptions, "petsMax" | "signal"> {
  readonly before: number;
  /** Later rows are not selected. */
  readonly last: number;
  readonly end: number;
}

/** Reads the selected rows and all that follow, in slices, and keeps one record per pet. */
async function collect(
  { inventory }: UndoStore,
  selection: Selection,
  { before, last, end, petsMax, signal }: Span,
) {
  const pets = new Map<bigint, Touched>();
  let rows = 0;
  for (let seq = before; seq < end && pets.size <= petsMax; seq += rowsAtOnce) {
    if (signal?.aborted) throw new ServiceError("invalid_request", connectionGone);
    for (const row of await inventory.ledgerAfter(seq, Math.min(rowsAtOnce, end - seq))) {
      const isSelected = row.seq <= last && isIn(selection, row);
      if (isSelected) rows += 1;
      const known = pets.get(row.petId);
      // What was undone is settled. Changes that the selection made after that are not.
      if (isSelected && (!known || known.mark === "undone")) pets.set(row.petId, firstOf(row));
      else if (known) follow(known, row, isSelected);
    }
    await yieldToEventLoop();
  }
  return { rows, pets };
}

function isIn(selection: Selection, { requestId, keyId, at }: LedgerRow): boolean {
  if ("requestId" in selection) return requestId === selection.requestId;
  return keyId === selection.keyId && at >= selection.from && at < selection.to;
}

function firstOf({ before: first, after, seq: version }: LedgerRow): Touched {
  const mark = !first ? "created" : after ? "unchanged" : "removed";
  const delta = (after?.quantity ?? 0) - (first?.quantity ?? 0);
  return { first, left: after, delta, now: after, version, mark };
}

/** Adds a later row of the same pet. */
function follow(pet: Touched, { before, after, seq, cause }: LedgerRow, isSelected: boolean): void {
  pet.now = after;
  pet.version = seq;
  if (pet.mark === "created" || pet.mark === "removed") return;
  if (!before || !after) pet.mark = "removed";
  else if (isSelected) {
    const sum = pet.delta + (after.quantity - before.quantity);
    pet.delta = Number.isSafeInteger(sum) ? sum : Number.NaN;
    pet.left = after;
  } else if (cause === "undo") pet.mark = "undone";
  else if (pet.mark === "unchanged") pet.mark = "changed";
}

function planOf(petId: bigint, { first, left, delta, now, mark }: Touched): UndonePet {
  if (mark !== "unchanged" && mark !== "changed") return { petId, mark, from: now, to: null };
  const quantity = now!.quantity - delta;
  if (!isQuantity(quantity)) return { petId, mark: "negative", from: now, to: null };
  // A status that somebody else has set since then is kept.
  const status = now!.status === left!.status ? first!.status : now!.status;
  const isSame = quantity === now!.quantity && status === now!.status;
  return { petId, mark: isSame ? "same" : mark, from: now, to: { quantity, status } };
}
