import { hashRow } from "./chain.ts";
import { clockErrorMs, countReason, countRowsMax } from "./counts.ts";
import { type EpochStart, isInHistory } from "./epochs.ts";
import type { Entry } from "./inventory.ts";
import {
  type Change,
  type Committed,
  type ExpectedVersion,
  type LedgerRow,
  type Outcome,
  type Rejected,
  type RejectedChange,
  type RejectionReason,
  rejectedMax,
  type Stored,
  type Tip,
  type Unit,
} from "./ledger.ts";

/** Everything that the rules need of the store, read in the transaction that holds the head. */
export interface LedgerState {
  readonly epoch: string;
  readonly tip: Omit<Tip, "hash">;
  /** The current entry of every pet that the units name. Updated with every row. */
  readonly entries: Map<bigint, Entry>;
  /** The first results of the units' idempotency keys, by key. New ones are added. */
  readonly remembered: Map<string, Remembered>;
  /** The epoch in which a row was written. Called only for versions that a client named. */
  epochOf(seq: number): string | undefined;
  /**
   * The rows of counted pets after their counts, and the rows at which they were counted, at least. Not
   * needed unless a unit has a count.
   */
  storedRow?(seq: number): LedgerRow | undefined;
  /** Not needed unless a unit has a count. */
  listEpochs?(): readonly EpochStart[];
}

/** What an idempotency key stands for. */
export interface Remembered {
  /** The digest of the request that used the key first. */
  readonly request: string;
  readonly at: number;
  readonly entries: readonly Entry[];
  readonly epoch: string;
}

/** An idempotency key that was used, and the rows that its unit added. */
export interface UsedKey {
  readonly key: string;
  readonly request: string;
  readonly firstSeq: number;
  readonly rows: number;
}

/** What units of changes add to the ledger. */
export interface Additions extends Committed {
  readonly rows: readonly LedgerRow[];
  /** The time of the rows. */
  readonly at: number;
  /** The keys of the units that were stored. */
  readonly usedKeys: readonly UsedKey[];
}

export interface Appended extends Additions {
  readonly tip: Tip;
  /** The hash of every row. */
  readonly hashes: readonly string[];
}

/** What has been added so far. */
interface Added {
  /** The time of the rows. Later than `now` while the clock is behind the last row. */
  readonly at: number;
  /** By the clock of the engine. */
  readonly now: number;
  readonly rows: LedgerRow[];
  readonly usedKeys: UsedKey[];
  /** What was read for counts: rows for those of the current unit, and the epochs. */
  rowsRead: number;
  epochs?: readonly EpochStart[];
}

/**
 * Turns units of changes into ledger rows. Units are applied in order, and each change starts from
 * the result of the change before it. Both engines call this inside the transaction that holds the
 * ledger's head, so the rules exist once. Only plain updates on PostgreSQL are applied by SQL, which
 * tests compare with this.
 */
export function append(
  state: LedgerState & { readonly tip: Tip },
  units: readonly Unit[],
  now: number,
): Appended {
  const additions = applyUnits(state, units, now);
  const { rows, at } = additions;
  const hashes: string[] = [];
  let { seq, hash } = state.tip;
  for (const row of rows) {
    hash = hashRow(hash, row);
    hashes.push(hash);
  }
  seq += rows.length;
  return { ...additions, hashes, tip: rows.length > 0 ? { seq, at, hash } : state.tip };
}

/** The rows and outcomes of units, without the hashes of the rows. */
export function applyUnits(state: LedgerState, units: readonly Unit[], now: number): Additions {
  const { epoch, tip } = state;
  const added: Added = { at: Math.max(now, tip.at), now, rows: [], usedKeys: [], rowsRead: 0 };
  const outcomes = units.map((unit) => appendUnit(state, unit, added, now));
  return { ...added, epoch, outcomes };
}

/** The content of a row that creates or removes an entry. */
export type RowContent = Omit<LedgerRow, "seq" | "at">;

/** Makes one row, in the transaction that holds the ledger's head. */
export function appendRow(tip: Tip, content: RowContent, now: number) {
  const row: LedgerRow = { ...content, seq: tip.seq + 1, at: Math.max(now, tip.at) };
  const end: Tip = { seq: row.seq, at: row.at, hash: hashRow(tip.hash, row) };
  return { row, tip: end };
}

function appendUnit(state: LedgerState, unit: Unit, added: Added, now: number): Outcome {
  const { idempotency } = unit;
  if (!idempotency) return appendChanges(state, unit, added);
  const { key, request, keptMs } = idempotency;
  const first = state.remembered.get(key);
  // Checked before every other rule: a retry gets the first result, whatever has changed since. It
  // expires by the clock of rows. While that is behind the last row, results are only kept for longer.
  if (first && first.at >= now - keptMs) return replay(first, request);
  const firstSeq = state.tip.seq + added.rows.length + 1;
  const outcome = appendChanges(state, unit, added);
  if (outcome.kind === "stored") {
    const { entries, epoch } = outcome;
    state.remembered.set(key, { request, at: added.at, entries, epoch });
    added.usedKeys.push({ key, request, firstSeq, rows: entries.length });
  }
  return outcome;
}

function replay({ request, entries, epoch }: Remembered, requested: string): Outcome {
  if (request === requested) return { kind: "stored", entries, epoch, isReplayed: true };
  return { kind: "rejected", reason: "key_reused", index: 0, current: undefined, epoch: undefined };
}

function appendChanges(state: LedgerState, unit: Unit, added: Added): Stored | Rejected {
  const { at, rows } = added;
  const { entries, tip, epoch } = state;
  const { changes, cause, keyId, requestId } = unit;
  // No unit is refused because of what those of others have read.
  added.rowsRead = 0;
  const replaced: Entry[] = [];
  const stored: Entry[] = [];
  const broken: RejectedChange[] = [];
  for (let index = 0; index < changes.length; index++) {
    const change = changes[index]!;
    const { petId, reason } = change;
    const before = entries.get(petId);
    const quantity = quantityAfter(state, change, before, added);
    if (typeof quantity === "string" || !isQuantity(quantity)) {
      const isRule = typeof quantity === "string";
      broken.push(
        isRule ? { index, reason: quantity } : { index, reason: "out_of_range", quantity },
      );
      // Counts after the last row that may be read cannot be judged.
      if (broken.length === rejectedMax || added.rowsRead > countRowsMax) break;
      continue;
    }
    const { version: previous } = before!;
    const isCount = change.kind === "count";
    const status = change.status ?? before!.status;
    const seq = tip.seq + rows.length + 1;
    const after: Entry = { petId, quantity, status, version: seq };
    rows.push({
      seq,
      petId,
      before: before!,
      after,
      previous,
      cause: isCount ? "count" : cause,
      keyId,
      requestId,
      reason: isCount ? countReason(reason, change.amount, quantity) : reason,
      at,
    });
    entries.set(petId, after);
    replaced.push(before!);
    stored.push(after);
  }
  if (broken.length > 0) {
    takeBack(entries, rows, replaced);
    return rejected(state, unit, broken);
  }
  if (!unit.isDryRun) return { kind: "stored", entries: stored, epoch, isReplayed: false };
  takeBack(entries, rows, replaced);
  const current = stored.map((one) => ({ ...one, version: entries.get(one.petId)!.version }));
  return { kind: "stored", entries: current, epoch, isReplayed: false, before: replaced };
}

/** Called when the entries are as they were before the unit. */
function rejected(
  { entries, epochOf }: LedgerState,
  { changes }: Unit,
  [first, ...others]: readonly RejectedChange[],
): Rejected {
  const current = entries.get(changes[first!.index]!.petId);
  const isMismatch = first!.reason === "version_mismatch";
  const epoch = isMismatch ? epochOf(current!.version) : undefined;
  return { kind: "rejected", ...first!, current, epoch, ...(others.length > 0 && { others }) };
}

/** Restores what changes of one unit replaced, the last one first, and drops their rows. */
function takeBack(entries: Map<bigint, Entry>, rows: LedgerRow[], replaced: readonly Entry[]) {
  for (const entry of replaced.toReversed()) entries.set(entry.petId, entry);
  rows.length -= replaced.length;
}

/** Whether a number can be the quantity of an entry. */
export function isQuantity(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** The quantity that a change would leave, which may be out of range, or the rule that it breaks. */
function quantityAfter(
  state: LedgerState,
  change: Change,
  before: Entry | undefined,
  added: Added,
): number | RejectionReason {
  const { kind, amount, expected } = change;
  if (!before) return "not_found";
  if (expected && !expected.some((version) => isAt(before, version, state.epochOf))) {
    return "version_mismatch";
  }
  if (kind === "count") return countedQuantity(state, change, before, added);
  return kind === "set" ? amount : before.quantity + amount;
}

/**
 * What was counted, with every later change to the pet: the rows after `seq`, except those that were
 * stored by `time`. A correction by another count changes what is recorded, and not what is on the
 * shelf, so it is left out. After an undo, or if the pet was added since, the ledger cannot tell what was
 * on the shelf, so the count is rejected.
 */
function countedQuantity(
  { tip, storedRow, listEpochs }: LedgerState,
  { amount, countedAt }: Change,
  before: Entry,
  added: Added,
): number | RejectionReason {
  const { seq, epoch, time } = countedAt!;
  added.epochs ??= listEpochs?.() ?? [];
  const isOther = epoch !== undefined && !isInHistory(added.epochs, tip.seq, { epoch, seq });
  if (isOther || seq > tip.seq) return "count_outdated";
  if (time !== undefined && !canOrder(time, added, storedRow!(seq))) return "count_untimed";
  let quantity = BigInt(amount);
  let { version, quantity: after } = before;
  while (version > seq) {
    const row = version > tip.seq ? added.rows[version - tip.seq - 1] : storedRow!(version);
    if (row && time !== undefined && row.at <= time) break;
    added.rowsRead += 1;
    if (!row?.before || row.cause === "undo" || added.rowsRead > countRowsMax) {
      return "count_outdated";
    }
    if (row.cause !== "count") quantity += BigInt(after - row.before.quantity);
    after = row.before.quantity;
    version = row.previous!;
  }
  return Number(quantity);
}

/**
 * Whether a time tells which rows were stored before it. Not while the clock is behind the last row, because
 * rows then get the time of that row. Nor if the count came after a row that is later by its time.
 */
function canOrder(time: number, { at, now }: Added, heard: LedgerRow | undefined): boolean {
  return at === now && time <= now && (heard === undefined || heard.at <= time + clockErrorMs);
}

function isAt(
  { version }: Entry,
  { seq, epoch }: ExpectedVersion,
  epochOf: LedgerState["epochOf"],
): boolean {
  return version === seq && (epoch === undefined || epochOf(version) === epoch);
}
