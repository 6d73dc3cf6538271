import type { Environment } from "../../../domain/keys/keys.ts";
import { type Entry, type PetStatus, petStatuses } from "../../../domain/ledger/inventory.ts";
import type {
  Change,
  Committed,
  ExpectedVersion,
  LedgerRow,
  Outcome,
  Unit,
} from "../../../domain/ledger/ledger.ts";
import type { ErrorCode, UnavailableReason } from "../../../domain/running/errors.ts";
import type { Damage } from "../engine/damage.ts";
import type { WriterArgs, WriterMethod } from "./writer.ts";

/** A message to the writing thread. */
export type WriterRequest =
  | { kind: "open"; path: string; environment: Environment }
  | { kind: "commit"; units: PackedUnits; now: number; withinMs: number }
  | { kind: "call"; method: WriterMethod; args: WriterArgs<WriterMethod> };

export interface SentRequest {
  readonly id: number;
  readonly request: WriterRequest;
  /** When it was sent, by `sharedMs`. */
  readonly sentMs: number;
}

/**
 * A clock that all threads share. Each thread counts from its own start, also in `process.hrtime`, so
 * the time of that start is added.
 */
export function sharedMs(): number {
  return performance.timeOrigin + performance.now();
}

/** A ServiceError. Its cause is sent as text. */
export interface SentError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly reason: UnavailableReason | undefined;
  readonly cause: string | undefined;
}

/** A reply of the writing thread to the request with the same id. */
export type WriterReply =
  | { id: number; result: unknown }
  | { id: number; error: SentError; damage: Damage | undefined }
  | { id: number; bug: string };

/**
 * Units, for a message between threads. A message of objects is copied property by property, which
 * costs several times as much as one buffer and one text.
 */
export interface PackedUnits {
  /** The pet ids of all changes as 64-bit integers, then their amounts as 64-bit floats. */
  readonly numbers: ArrayBuffer;
  /** JSON: the cause, the key, the request and the number of changes of every unit. */
  readonly origins: string;
  /**
   * JSON: the idempotent request of every unit, and everything else about each of its changes. Undefined
   * if no unit has one and all changes only set a quantity.
   */
  readonly details: string | undefined;
}

type Terms = [
  kind: Change["kind"],
  reason: string | null,
  expected: readonly ExpectedVersion[] | null,
  status: PetStatus | null,
];
const originLength = 4;

function viewNumbers(numbers: ArrayBuffer, count: number) {
  return {
    petIds: new BigInt64Array(numbers, 0, count),
    amounts: new Float64Array(numbers, count * BigInt64Array.BYTES_PER_ELEMENT, count),
  };
}

const bytesPerChange = BigInt64Array.BYTES_PER_ELEMENT + Float64Array.BYTES_PER_ELEMENT;

export function packUnits(units: readonly Unit[]): PackedUnits {
  const count = units.reduce((sum, { changes }) => sum + changes.length, 0);
  const numbers = new ArrayBuffer(count * bytesPerChange);
  const { petIds, amounts } = viewNumbers(numbers, count);
  const origins: unknown[] = [];
  let index = 0;
  let isPlain = true;
  for (const { changes, cause, keyId, requestId, idempotency } of units) {
    origins.push(cause, keyId, requestId, changes.length);
    isPlain &&= idempotency === undefined;
    for (const change of changes) {
      petIds[index] = change.petId;
      // The array keeps the last 64 bits of a larger number, which may be the id of another pet.
      if (petIds[index] !== change.petId) {
        throw new Error(`${change.petId} is not a 64-bit integer`);
      }
      amounts[index++] = change.amount;
      isPlain &&= isPlainChange(change);
    }
  }
  const details = isPlain ? undefined : JSON.stringify(units.flatMap(detailsOf));
  return { numbers, origins: JSON.stringify(origins), details };
}

function isPlainChange({ kind, reason, expected, status }: Change): boolean {
  return kind === "set" && reason === null && !expected && status === undefined;
}

function detailsOf({ idempotency, changes }: Unit): unknown[] {
  const terms = changes.map(({ kind, reason, expected, status }) => [
    kind,
    reason,
    expected ?? null,
    status ?? null,
  ]);
  return [idempotency ?? null, ...terms];
}

export function unpackUnits({ numbers, origins, details }: PackedUnits): Unit[] {
  const { petIds, amounts } = viewNumbers(numbers, numbers.byteLength / bytesPerChange);
  const values = JSON.parse(origins);
  const rest = details === undefined ? undefined : JSON.parse(details).values();
  const units: Unit[] = [];
  let index = 0;
  for (let at = 0; at < values.length; at += originLength) {
    const idempotency: Unit["idempotency"] = rest?.next().value ?? undefined;
    const changes: Change[] = [];
    for (const end = index + values[at + 3]; index < end; index++) {
      const petId = petIds[index]!;
      const amount = amounts[index]!;
      if (rest) {
        const [kind, reason, expected, status]: Terms = rest.next().value;
        const known = { expected: expected ?? undefined, status: status ?? undefined };
        changes.push({ petId, kind, amount, ...known, reason });
      } else changes.push({ petId, kind: "set", amount, reason: null });
    }
    const [cause, keyId, requestId] = [values[at], values[at + 1], values[at + 2]];
    units.push({ changes, cause, keyId, requestId, idempotency });
  }
  return units;
}

/**
 * What the writer adds to the units that it was sent. All rows of a commit have consecutive numbers
 * and one time.
 */
export interface PackedCommit {
  readonly epoch: string;
  /** The first row's number and time. Then, per row: stock before, stock after, previous row. */
  readonly numbers: Float64Array;
  /** The outcomes of units that added no rows, by their index. Undefined if all added rows. */
  readonly withoutRows: ReadonlyMap<number, Outcome> | undefined;
}

const rowsAt = 2;
const numbersPerRow = 5;

export function packCommit({ epoch, rows, outcomes }: Committed): PackedCommit {
  const numbers = new Float64Array(rowsAt + numbersPerRow * rows.length);
  if (rows[0]) [numbers[0], numbers[1]] = [rows[0].seq, rows[0].at];
  let at = rowsAt;
  for (const { before, after, previous } of rows) {
    numbers[at++] = before!.quantity;
    numbers[at++] = petStatuses.indexOf(before!.status);
    numbers[at++] = after!.quantity;
    numbers[at++] = petStatuses.indexOf(after!.status);
    numbers[at++] = previous!;
  }
  return { epoch, numbers, withoutRows: findWithoutRows(outcomes) };
}

function findWithoutRows(outcomes: readonly Outcome[]): Map<number, Outcome> | undefined {
  let found: Map<number, Outcome> | undefined;
  for (let index = 0; index < outcomes.length; index++) {
    const outcome = outcomes[index]!;
    if (outcome.kind === "stored" && !outcome.isReplayed) continue;
    found ??= new Map();
    found.set(index, outcome);
  }
  return found;
}

/** `units` are those that were sent. */
export function unpackCommit(
  { epoch, numbers, withoutRows }: PackedCommit,
  units: readonly Unit[],
): Committed {
  const firstSeq = numbers[0]!;
  const at = numbers[1]!;
  const rows: LedgerRow[] = [];
  const outcomes: Outcome[] = [];
  for (let index = 0; index < units.length; index++) {
    const known = withoutRows?.get(index);
    if (known) {
      outcomes.push(known);
      continue;
    }
    const { changes, cause, keyId, requestId } = units[index]!;
    const entries: Entry[] = [];
    for (const { petId, reason } of changes) {
      const seq = firstSeq + rows.length;
      const first = rowsAt + numbersPerRow * rows.length;
      const before = { quantity: numbers[first]!, status: petStatuses[numbers[first + 1]!]! };
      const quantity = numbers[first + 2]!;
      const after = { petId, quantity, status: petStatuses[numbers[first + 3]!]!, version: seq };
      const previous = numbers[first + 4]!;
      rows.push({ seq, petId, before, after, previous, cause, keyId, requestId, reason, at });
      entries.push(after);
    }
    outcomes.push({ kind: "stored", entries, epoch, isReplayed: false });
  }
  return { epoch, rows, outcomes };
}
