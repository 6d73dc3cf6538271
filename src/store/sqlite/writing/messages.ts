import { type Entry, type PetStatus, petStatuses } from "../../../domain/ledger/inventory.ts";
import type {
  Cause,
  Change,
  ExpectedVersion,
  Outcome,
  StockRow,
  Unit,
} from "../../../domain/ledger/ledger.ts";
import type { SentError } from "../../../domain/running/errors.ts";
import type { CommittedHead } from "../commit.ts";
import type { WrittenFile } from "../engine/connection.ts";
import type { Damage } from "../engine/damage.ts";
import type { WriterArgs, WriterMethod } from "./writer.ts";

/**
 * Messages between the threads. A commit and its result are texts, because Bun passes on a text at half
 * the cost of an object. Everything else is rare.
 */
export type WriterMessage = string | SentRequest;
export type WriterAnswer = string | WriterReply;

/** A request to the writing thread that is not a commit. */
export type WriterRequest =
  | { kind: "open"; file: WrittenFile }
  | { kind: "call"; method: WriterMethod; args: WriterArgs<WriterMethod> };

interface Sent {
  readonly id: number;
  /** When it was sent, by `sharedMs`. */
  readonly sentMs: number;
}

export interface SentRequest extends Sent {
  readonly request: WriterRequest;
}

/**
 * A clock that all threads share. Each thread counts from its own start, also in `process.hrtime`, so
 * the time of that start is added.
 */
export function sharedMs(): number {
  return performance.timeOrigin + performance.now();
}

/** A reply of the writing thread to the request with the same id. */
export type WriterReply =
  | { id: number; result: unknown }
  | { id: number; error: SentError; damage: Damage | undefined }
  | { id: number; bug: string };

/** Units to commit, and the arguments of that commit. */
export interface SentCommit extends Sent {
  readonly now: number;
  readonly withinMs: number;
  readonly units: readonly Unit[];
}

/** Everything about a change that does not only set a quantity. */
type Terms = [
  kind: Change["kind"],
  reason: string | null,
  expected: readonly ExpectedVersion[] | null,
  status: PetStatus | null,
  countedAt: ExpectedVersion | null,
];

/** Precedes the cause and the key of the units that follow. */
const originMark = 0;

/**
 * One array of all values: an array or an object for each update would take several times as long. A
 * unit that only sets one quantity is its request, pet and quantity. Any other unit is an array.
 */
export function encodeCommit({ id, sentMs, now, withinMs, units }: SentCommit): string {
  const values: unknown[] = [id, sentMs, now, withinMs];
  let origin: Unit | undefined;
  for (const unit of units) {
    const { changes, cause, keyId, requestId, idempotency, isDryRun } = unit;
    if (cause !== origin?.cause || keyId !== origin.keyId) values.push(originMark, cause, keyId);
    origin = unit;
    const change = changes[0];
    if (changes.length === 1 && !idempotency && !isDryRun && isPlain(change!)) {
      values.push(requestId, encodeId(change!.petId), change!.amount);
    } else {
      const terms = [requestId, idempotency ?? null, isDryRun ?? false];
      values.push([...terms, ...changes.flatMap(encodeChange)]);
    }
  }
  return JSON.stringify(values);
}

function isPlain({ kind, reason, expected, status }: Change): boolean {
  return kind === "set" && reason === null && !expected && status === undefined;
}

function encodeChange({ petId, amount, kind, reason, expected, status, countedAt }: Change) {
  const terms: Terms = [kind, reason, expected ?? null, status ?? null, countedAt ?? null];
  return [encodeId(petId), amount, terms];
}

/** A number if it is exact as one, which is faster. */
function encodeId(petId: bigint): number | string {
  const number = Number(petId);
  if (Number.isSafeInteger(number)) return number;
  // SQLite would store the last 64 bits of a larger number, which may be the id of another pet.
  if (BigInt.asIntN(64, petId) !== petId) throw new Error(`${petId} is not a 64-bit integer`);
  return `${petId}`;
}

export function decodeCommit(text: string): SentCommit {
  const values = JSON.parse(text);
  const [id, sentMs, now, withinMs] = values;
  const units: Unit[] = [];
  let cause: Cause = "api";
  let keyId: string | null = null;
  for (let at = 4; at < values.length; ) {
    const first = values[at];
    if (first === originMark) {
      cause = values[at + 1];
      keyId = values[at + 2];
      at += 3;
    } else if (Array.isArray(first)) {
      const [requestId, idempotency, isDryRun, ...changes] = first;
      const decoded = decodeChanges(changes);
      units.push({
        changes: decoded,
        cause,
        keyId,
        requestId,
        idempotency: idempotency ?? undefined,
        ...(isDryRun && { isDryRun }),
      });
      at += 1;
    } else {
      const change: Change = {
        petId: BigInt(values[at + 1]),
        kind: "set",
        amount: values[at + 2],
        expected: undefined,
        status: undefined,
        reason: null,
      };
      units.push({ changes: [change], cause, keyId, requestId: first, idempotency: undefined });
      at += 3;
    }
  }
  return { id, sentMs, now, withinMs, units };
}

// biome-ignore lint/suspicious/noExplicitAny: values of JSON, written by encodeChange.
function decodeChanges(values: any[]): Change[] {
  const changes: Change[] = [];
  for (let at = 0; at < values.length; at += 3) {
    const [kind, reason, expected, status, countedAt]: Terms = values[at + 2];
    changes.push({
      petId: BigInt(values[at]),
      kind,
      amount: values[at + 1],
      expected: expected ?? undefined,
      status: status ?? undefined,
      ...(countedAt && { countedAt }),
      reason,
    });
  }
  return changes;
}

/**
 * What the writing thread adds to the units that it was sent: the head, the outcomes of units without
 * rows by their index, and the quantity and status of every entry that was stored.
 */
export function encodeCommitted(
  id: number,
  { head: { epoch, seq, keysVersion }, rows, outcomes }: CommittedHead,
): string {
  const values: unknown[] = [id, epoch, seq, keysVersion, encodeWithoutRows(outcomes)];
  for (const { after } of rows) values.push(after!.quantity, petStatuses.indexOf(after!.status));
  return JSON.stringify(values);
}

/** JSON cannot contain a bigint. */
function encodeWithoutRows(outcomes: readonly Outcome[]): string | null {
  const found = outcomes.flatMap((outcome, index) =>
    outcome.kind === "stored" && !outcome.isReplayed && !outcome.before ? [] : [[index, outcome]],
  );
  if (found.length === 0) return null;
  return JSON.stringify(found, (name, value) => (name === "petId" ? `${value}` : value));
}

function decodeWithoutRows(text: string): ReadonlyMap<number, Outcome> {
  return new Map(JSON.parse(text, (name, value) => (name === "petId" ? BigInt(value) : value)));
}

/** The id of the request that an encoded result belongs to. */
export function committedId(text: string): number {
  return Number.parseInt(text.slice(1), 10);
}

/** `units` are those that were sent. */
export function decodeCommitted(text: string, units: readonly Unit[]): CommittedHead {
  const values = JSON.parse(text);
  const head = { epoch: values[1] as string, seq: values[2], keysVersion: values[3] };
  const withoutRows = values[4] === null ? undefined : decodeWithoutRows(values[4]);
  const { epoch } = head;
  const rows: StockRow[] = [];
  const outcomes: Outcome[] = [];
  let at = 5;
  let seq: number = head.seq - (values.length - at) / 2;
  for (let index = 0; index < units.length; index++) {
    const known = withoutRows?.get(index);
    if (known) {
      outcomes.push(known);
      continue;
    }
    const entries: Entry[] = [];
    for (const { petId } of units[index]!.changes) {
      seq += 1;
      const status = petStatuses[values[at + 1]]!;
      const after: Entry = { petId, quantity: values[at], status, version: seq };
      at += 2;
      rows.push({ seq, petId, after });
      entries.push(after);
    }
    outcomes.push({ kind: "stored", entries, epoch, isReplayed: false });
  }
  return { epoch, head, rows, outcomes };
}
