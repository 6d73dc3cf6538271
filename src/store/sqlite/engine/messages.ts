import type { ErrorCode } from "../../../domain/errors.ts";
import { type Entry, petStatuses, type Stock } from "../../../domain/inventory.ts";
import type { Environment } from "../../../domain/keys.ts";
import type {
  Change,
  Committed,
  ExpectedVersion,
  LedgerRow,
  Outcome,
  Rejected,
  Unit,
} from "../../../domain/ledger.ts";
import type { Damage } from "./damage.ts";
import type { WriterArgs, WriterMethod } from "./writer.ts";

/** A message to the writing thread. */
export type WriterRequest =
  | { kind: "open"; path: string; environment: Environment }
  | { kind: "commit"; units: PackedUnits; now: number; withinMs: number }
  | { kind: "call"; method: WriterMethod; args: WriterArgs<WriterMethod> };

/** A reply of the writing thread to the request with the same id. */
export type WriterReply =
  | { id: number; result: unknown }
  | { id: number; refusal: { code: ErrorCode; message: string }; damage: Damage | undefined }
  | { id: number; bug: string };

/**
 * Units and their outcomes as columns, for messages between threads. A message of objects is copied
 * property by property, which costs three times as much.
 */
export interface PackedUnits {
  /** Per unit: how many changes it has. */
  readonly sizes: Uint32Array;
  /** JSON of cause, key and request, unit after unit. */
  readonly origins: string;
  /** Per change. */
  readonly petIds: BigInt64Array;
  readonly amounts: Float64Array;
  /** 1 where the amount is added. */
  readonly additions: Uint8Array;
  /** JSON of reason and expected versions by change; absent where no change has either. */
  readonly terms: string | undefined;
}

type Terms = [reason: string | null, expected: readonly ExpectedVersion[] | null];

export function packUnits(units: readonly Unit[]): PackedUnits {
  const changes = units.length === 1 ? units[0]!.changes : units.flatMap((unit) => unit.changes);
  const petIds = new BigInt64Array(changes.length);
  const amounts = new Float64Array(changes.length);
  const additions = new Uint8Array(changes.length);
  let hasTerms = false;
  for (let index = 0; index < changes.length; index++) {
    const { petId, kind, amount, reason, expected } = changes[index]!;
    petIds[index] = petId;
    amounts[index] = amount;
    if (kind === "add") additions[index] = 1;
    if (reason !== null || expected) hasTerms = true;
  }
  const sizes = new Uint32Array(units.length);
  const origins: (string | null)[] = [];
  for (let index = 0; index < units.length; index++) {
    const unit = units[index]!;
    sizes[index] = unit.changes.length;
    origins.push(unit.cause, unit.keyId, unit.requestId);
  }
  const terms = hasTerms ? JSON.stringify(changes.map(termsOf)) : undefined;
  return { sizes, origins: JSON.stringify(origins), petIds, amounts, additions, terms };
}

function termsOf({ reason, expected }: Change): Terms {
  return [reason, expected ?? null];
}

export function unpackUnits(packed: PackedUnits): Unit[] {
  const { sizes, petIds, amounts, additions } = packed;
  const origins = JSON.parse(packed.origins) as (string | null)[];
  const terms = packed.terms === undefined ? undefined : (JSON.parse(packed.terms) as Terms[]);
  let at = 0;
  return Array.from(sizes, (size, index) => {
    const changes: Change[] = [];
    for (const end = at + size; at < end; at++) {
      const [reason, expected] = terms?.[at] ?? [null, null];
      changes.push({
        petId: petIds[at]!,
        kind: additions[at] === 1 ? "add" : "set",
        amount: amounts[at]!,
        expected: expected ?? undefined,
        reason,
      });
    }
    const [cause, keyId, requestId] = origins.slice(3 * index, 3 * index + 3);
    return { changes, cause: cause as Unit["cause"], keyId: keyId!, requestId: requestId! };
  });
}

/** What the sender of the units does not know. Rows have consecutive numbers and one time. */
export interface PackedCommit {
  readonly firstSeq: number;
  readonly at: number;
  /** Per row. */
  readonly quantitiesBefore: Float64Array;
  readonly quantitiesAfter: Float64Array;
  readonly statusesBefore: Uint8Array;
  readonly statusesAfter: Uint8Array;
  readonly previous: Float64Array;
  /** The units that were not stored, by their index. */
  readonly rejected: ReadonlyMap<number, Rejected>;
}

export function packCommit({ rows, outcomes }: Committed): PackedCommit {
  const count = rows.length;
  const packed = {
    firstSeq: rows[0]?.seq ?? 0,
    at: rows[0]?.at ?? 0,
    quantitiesBefore: new Float64Array(count),
    quantitiesAfter: new Float64Array(count),
    statusesBefore: new Uint8Array(count),
    statusesAfter: new Uint8Array(count),
    previous: new Float64Array(count),
    rejected: new Map<number, Rejected>(),
  };
  for (let index = 0; index < count; index++) {
    const { before, after, previous } = rows[index]!;
    packed.quantitiesBefore[index] = before!.quantity;
    packed.quantitiesAfter[index] = after!.quantity;
    packed.statusesBefore[index] = petStatuses.indexOf(before!.status);
    packed.statusesAfter[index] = petStatuses.indexOf(after!.status);
    packed.previous[index] = previous!;
  }
  for (let index = 0; index < outcomes.length; index++) {
    const outcome = outcomes[index]!;
    if (outcome.kind === "rejected") packed.rejected.set(index, outcome);
  }
  return packed;
}

export function unpackCommit(packed: PackedCommit, units: readonly Unit[]): Committed {
  const rows: LedgerRow[] = [];
  const outcomes = units.map((unit, index): Outcome => {
    const rejected = packed.rejected.get(index);
    if (rejected) return rejected;
    const entries = unit.changes.map((change) => {
      const row = unpackRow(packed, rows.length, unit, change);
      rows.push(row);
      return row.after;
    });
    return { kind: "stored", entries };
  });
  return { rows, outcomes };
}

function unpackRow(packed: PackedCommit, index: number, unit: Unit, change: Change) {
  const { petId, reason } = change;
  const seq = packed.firstSeq + index;
  const after: Entry = {
    petId,
    quantity: packed.quantitiesAfter[index]!,
    status: petStatuses[packed.statusesAfter[index]!]!,
    version: seq,
  };
  const before: Stock = {
    quantity: packed.quantitiesBefore[index]!,
    status: petStatuses[packed.statusesBefore[index]!]!,
  };
  const { cause, keyId, requestId } = unit;
  const previous = packed.previous[index]!;
  return { seq, petId, before, after, previous, cause, keyId, requestId, reason, at: packed.at };
}
