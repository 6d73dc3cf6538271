import { applyUnits } from "../../domain/append.ts";
import { sourceText } from "../../domain/chain.ts";
import { storedKeysOf } from "../../domain/idempotency.ts";
import type { Committed, Unit } from "../../domain/ledger.ts";
import { toEntry } from "../rows.ts";
import { integerArray, textArray } from "./engine/arrays.ts";
import type { Session } from "./engine/session.ts";
import { assertCommitted, begin } from "./engine/transaction.ts";
import type { Epochs } from "./epochs.ts";
import type { KeyMemory } from "./idempotency.ts";

/**
 * Whether the units only set the quantity of one pet each, whatever it is now, for the same cause.
 * Nearly all updates do.
 */
export function arePlainUpdates(units: readonly Unit[]): boolean {
  const { cause: common } = units[0]!;
  return units.every(({ changes, cause }) => {
    const { kind, expected, status } = changes[0]!;
    const isPlain = kind === "set" && expected === undefined && status === undefined;
    return isPlain && changes.length === 1 && cause === common;
  });
}

/** The function is part of the schema. */
const applyText = `SELECT * FROM petstore_set_quantities($1::int8, $2::int8, $3::int8[], $4::int8[],
  $5::int4[], $6::text, $7::text[], $8::text[], $9::text[], $10::text[], $11::int8, $12::bytea)`;

/**
 * Commits plain updates in one round trip: the database applies them itself. The head is locked only
 * while the database works, never while it waits for this process. Returns undefined, with nothing
 * stored, if that is not possible: the epoch of the server is not recorded yet, or an idempotency key
 * may have been used before.
 */
export async function commitPlainUpdates(
  { sql, query, confirm }: Session,
  epochs: Epochs,
  keys: KeyMemory,
  units: readonly Unit[],
  now: number | null,
): Promise<Committed | undefined> {
  const timeline = epochs.recordedTimeline;
  const hasKeys = units.some(({ idempotency }) => idempotency);
  const newKeys = hasKeys ? keys.newKeys(units, timeline) : undefined;
  if (timeline === 0 || (hasKeys && !newKeys)) return undefined;
  const keyValues = [newKeys?.after ?? null, newKeys?.records ?? null];
  const [, [before, ...found], ended] = await Promise.all([
    query(begin),
    query(applyText, [now, timeline, ...columnsOf(units), ...keyValues]),
    // Its response shows that the commit is durable. The server may send the response of a statement
    // that is its own transaction before the commit.
    sql`COMMIT`,
  ]);
  assertCommitted(ended);
  if (!before) {
    if (hasKeys) keys.wasBehind();
    return undefined;
  }
  // A server that was replaced meanwhile may have committed what its successor will never have.
  confirm(timeline);
  const [, at, storeEpoch, seq] = before;
  const epoch = epochs.nameOf(storeEpoch as string, timeline);
  const added = applyUnits(
    {
      epoch,
      tip: { seq: Number(seq), at: Number(at) },
      entries: new Map(found.map((row) => [row[0] as bigint, toEntry(row)])),
      remembered: new Map(),
      epochOf: () => undefined,
    },
    units,
    Number(at),
  );
  const stored = storedKeysOf(added);
  if (stored) keys.committed(stored);
  return added;
}

/** The parameters from the pets to the sources. */
function columnsOf(units: readonly Unit[]): (string | null)[] {
  const changes = units.map((unit) => unit.changes[0]!);
  const petIds = changes.map(({ petId }) => petId);
  const hasReasons = changes.some(({ reason }) => reason !== null);
  return [
    integerArray(petIds),
    integerArray(changes.map(({ amount }) => amount)),
    earlierArray(petIds),
    units[0]!.cause,
    textArray(units.map(({ keyId }) => keyId)),
    textArray(units.map(({ requestId }) => requestId)),
    hasReasons ? textArray(changes.map(({ reason }) => reason)) : null,
    textArray(
      units.map(({ cause, keyId, requestId }, at) =>
        sourceText(cause, keyId, requestId, changes[at]!.reason),
      ),
    ),
  ];
}

/** The last index, from 1, at which each pet was named before; null if no pet is named twice. */
function earlierArray(petIds: readonly bigint[]): string | null {
  if (new Set(petIds).size === petIds.length) return null;
  const last = new Map<bigint, number>();
  const earlier = petIds.map((petId, at) => {
    const before = last.get(petId) ?? null;
    last.set(petId, at + 1);
    return before;
  });
  return integerArray(earlier);
}
