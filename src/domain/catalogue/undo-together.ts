import type { Actor } from "../audit/audit.ts";
import { isQuantity } from "../ledger/append.ts";
import type { Stock } from "../ledger/inventory.ts";
import type { LedgerRow } from "../ledger/ledger.ts";
import type { LedgerParts, RowFilter } from "../ledger/store.ts";
import { yieldToEventLoop } from "../running/background.ts";
import { InvalidField, invalidRequest, ServiceError, unavailable } from "../running/errors.ts";
import { exactInteger } from "../values/json.ts";
import { once } from "../values/once.ts";
import { isReason, reasonRule } from "../values/texts.ts";
import { isOfSession, startOf } from "./assistant-sessions.ts";
import type { CatalogueStore } from "./store.ts";

/** Which ledger rows to undo: those that match all that is given. */
export interface Selection extends Pick<RowFilter, "keyId" | "cause"> {
  readonly requestId?: string | undefined;
  /** The id of an assistant's session. */
  readonly session?: string | undefined;
  readonly petId?: bigint | undefined;
  /** Rows at `from` are included, rows at `to` are not. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Why a pet does not just get its earlier stock. All but the first leave the pet out. */
const whys = {
  changed: "It was changed since. If it is included, those changes are kept.",
  negative: "Left out: there is too little stock to take the changes back.",
  undone: "Left out: an undo followed.",
  counted: "Left out: it was counted since.",
  gone: "Left out: the pet was added or removed.",
  same: "Left out: the changes left its stock as it was.",
};

/** A pet with its stock without the undo, and with it. `after` is null for a pet that is left out. */
interface UndonePet extends Pick<LedgerRow, "petId" | "before" | "after"> {
  /** Null if the pet gets its earlier stock. */
  readonly why: string | null;
}

/** What an undo has done, or what a dry run has found. */
export interface Undone {
  /** The last ledger row that was read. */
  readonly asOf: number;
  /** The selected ledger rows. */
  readonly rows: number;
  /** Pets that get a new row, pets that were changed since, and pets that cannot be undone. */
  readonly undone: number;
  readonly changed: number;
  readonly leftOut: number;
  /** The first of them. Those that are changed or left out come first. */
  readonly pets: readonly UndonePet[];
}

/** How many pets are listed. */
export const petsListedMax = 200;

export interface TogetherOptions {
  readonly actor: Actor;
  readonly reason?: string | undefined;
  /** Whether pets that were changed since are undone, too. */
  readonly force: boolean;
  /** Shows what would be undone, and changes nothing. */
  readonly isDryRun: boolean;
  /** The `asOf` of a dry run. Later changes are not undone. */
  readonly asOf?: number | undefined;
  /** Whether an assistant undoes its session. It may be the work of seconds, not of minutes. */
  readonly isByAssistant?: boolean | undefined;
}

interface TogetherStore extends Pick<LedgerParts, "inventory" | "history"> {
  readonly catalogue: Pick<CatalogueStore, "importPets">;
}

const rowsAtOnce = 1_000;

/** How far back an undo is quick: a few milliseconds. */
const quickRowsMax = 2_000;

/** How far back an assistant may undo. */
const assistantRowsMax = 1_000_000;

export const tooLongAgo = `The session began more than ${assistantRowsMax.toLocaleString("en")} changes ago. Ask an operator to undo it.`;

export const nothingFound = "No change was found.";

/**
 * Takes back the selected changes in one transaction, as an import does: all new rows are stored, or
 * none. From the quantity of each pet it subtracts the sum of its selected changes, so sales and
 * deliveries since then are kept. Pets that change while this runs are left out. It blocks its thread
 * for seconds if there are many rows.
 */
export async function undoTogether(
  store: TogetherStore,
  selection: Selection,
  options: TogetherOptions,
): Promise<Undone> {
  return (await undoWithin(store, selection, options, Infinity))!;
}

/** The same, for the thread of a service. Returns undefined if too many rows were stored since. */
export function undoQuickly(store: TogetherStore, selection: Selection, options: TogetherOptions) {
  return undoWithin(store, selection, options, quickRowsMax);
}

/** Reads at most this many rows, and returns undefined if there are more. */
async function undoWithin(
  store: TogetherStore,
  selection: Selection,
  options: TogetherOptions,
  rowsMax: number,
): Promise<Undone | undefined> {
  const { requestId, session, keyId = "a period" } = selection;
  const { actor, reason = `undo of ${requestId ?? session ?? keyId}` } = options;
  if (!isReason(reason)) throw new InvalidField("reason", reasonRule);
  const { seq: end, hash } = await store.history.readTip();
  const asOf = Math.min(options.asOf ?? end, end);
  const start = await rowBefore(store, selection, asOf, end - rowsMax);
  if (options.isByAssistant && end - start > assistantRowsMax) throw invalidRequest(tooLongAgo);
  if (end - start > rowsMax) return undefined;
  const { rows, touched } = await collect(store, selection, asOf, start, end);
  if (rows === 0) throw new ServiceError("not_found", nothingFound);
  const pets = [...touched].map(([petId, pet]) => planOf(petId, pet));
  const changed = pets.filter(({ after, why }) => after && why);
  const leftOut = pets.filter(({ after }) => !after);
  const unchanged = pets.filter(({ why }) => !why);
  const records = (options.force ? [...unchanged, ...changed] : unchanged).map(
    ({ petId, after }) => ({ line: 0, petId, ...after! }),
  );
  let { length: undone } = records;
  if (!options.isDryRun && undone > 0) {
    // The store may have been replaced since it was read, for example by a standby that lacks the last rows.
    if (!(await store.history.hasRow(end, hash))) throw unavailable("unreachable");
    const origin = { actor, reason, undoAsOf: end };
    ({ changed: undone } = await store.catalogue.importPets(once(records), origin));
  }
  return {
    ...{ asOf, rows, undone, leftOut: leftOut.length },
    changed: changed.length + records.length - undone,
    pets: [...changed, ...leftOut, ...unchanged].slice(0, petsListedMax),
  };
}

/** As the command and the operator API write it. */
export function undoneJson({ pets, ...counts }: Undone): string {
  const exact = pets.map((pet) => ({ ...pet, petId: exactInteger(pet.petId) }));
  return JSON.stringify({ ...counts, pets: exact });
}

/** What happened to a pet, from its first selected row to the end of the ledger. */
interface Touched {
  /** The stock before the first selected row, with the status that others have set since. */
  first: Stock | null;
  /** The sum of the selected changes, which a number may not hold. */
  delta: bigint;
  /** Its last row, selected or not. */
  last: LedgerRow;
  why: string | null;
}

/** Reads the selected rows and all that follow, in slices, and keeps one record per pet. */
async function collect(
  store: TogetherStore,
  selection: Selection,
  asOf: number,
  start: number,
  end: number,
) {
  const touched = new Map<bigint, Touched>();
  let rows = 0;
  for (let seq = start; seq < end; seq += rowsAtOnce) {
    await yieldToEventLoop();
    for (const row of await store.inventory.ledgerAfter(seq, Math.min(rowsAtOnce, end - seq))) {
      const isSelected = row.seq <= asOf && isIn(selection, row);
      if (isSelected) rows += 1;
      const known = touched.get(row.petId);
      const isFirst = isSelected && (!known || isSettled(known));
      const pet = isFirst ? { first: row.before, delta: 0n, last: row, why: null } : known;
      if (!pet) continue;
      if (isFirst) touched.set(row.petId, pet);
      follow(pet, row, isSelected);
    }
  }
  return { rows, touched };
}

/**
 * What an undo has taken back is settled, and so is what somebody has counted since. Changes that the
 * selection made after that are not.
 */
function isSettled({ why, first, last: { after, cause } }: Touched): boolean {
  const isBack = first?.quantity === after?.quantity && first?.status === after?.status;
  return why === whys.counted || (why === whys.undone && cause === "undo" && isBack);
}

/**
 * A row before the selected ones. No index finds rows by their request, so this searches from
 * the end of the ledger, down to `floor`. A request is stored in one transaction, so its rows follow each
 * other.
 */
async function rowBefore(
  { inventory, history }: TogetherStore,
  { requestId, session, to, ...given }: Selection,
  asOf: number,
  floor: number,
): Promise<number> {
  const from = given.from ?? (session === undefined ? undefined : startOf(session));
  const last = to === undefined ? asOf : Math.min(asOf, await history.seqAt(to - 1));
  const low = from === undefined ? 0 : await history.seqAt(from - 1);
  if (requestId === undefined) return low;
  const isOfRequest = (row: LedgerRow | undefined) => row?.requestId === requestId;
  let isFound = false;
  for (let end = last; end > low; end -= rowsAtOnce) {
    if (end < floor) return low;
    const start = Math.max(low, end - rowsAtOnce);
    const rows = await inventory.ledgerAfter(start, end - start);
    isFound ||= rows.some(isOfRequest);
    if (isFound && !isOfRequest(rows[0])) return start;
  }
  return isFound ? low : last;
}

function isIn({ from = 0, to = Infinity, ...given }: Selection, row: LedgerRow): boolean {
  if (given.session !== undefined && !isOfSession(row, given.session)) return false;
  const fields = ["requestId", "keyId", "cause", "petId"] as const;
  const isSame = (field: (typeof fields)[number]) => (given[field] ?? row[field]) === row[field];
  return fields.every(isSame) && row.at >= from && row.at < to;
}

function follow(pet: Touched, row: LedgerRow, isSelected: boolean): void {
  const { before, after, cause } = row;
  pet.last = row;
  if (!before || !after) pet.why = whys.gone;
  else if (isSelected) pet.delta += BigInt(after.quantity) - BigInt(before.quantity);
  else if (cause === "undo") pet.why = whys.undone;
  else {
    pet.why = cause === "count" ? whys.counted : (pet.why ?? whys.changed);
    // A status that somebody else has set is kept.
    if (before.status !== after.status) pet.first = { ...pet.first!, status: after.status };
  }
}

function planOf(petId: bigint, { first, delta, last, why }: Touched): UndonePet {
  const { after: before } = last;
  const leftOut = (reason: string) => ({ petId, before, after: null, why: reason });
  if (!before || (why && why !== whys.changed)) return leftOut(why ?? whys.gone);
  const quantity = Number(BigInt(before.quantity) - delta);
  if (!isQuantity(quantity)) return leftOut(whys.negative);
  const { status } = first!;
  const isSame = quantity === before.quantity && status === before.status;
  return isSame ? leftOut(whys.same) : { petId, before, after: { quantity, status }, why };
}
