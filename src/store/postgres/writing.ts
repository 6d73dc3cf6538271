import { Refusal } from "../../domain/errors.ts";
import type { Entry } from "../../domain/inventory.ts";
import { append, type Change, type LedgerRow, type Outcome } from "../../domain/ledger.ts";
import { entryColumns, ledgerColumns, toEntry } from "../rows.ts";
import { integerArray, textArray } from "./arrays.ts";
import { timelineNow } from "./primary.ts";
import type { Session } from "./session.ts";

/** The database's own time in milliseconds, unless the first parameter gives another. */
export const nowMs =
  "coalesce($1::int8, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8)";

/**
 * Locks the ledger's head, in a statement of its own: a statement that locks and also reads would
 * read what was there before it got the lock. Whoever holds the head and falls silent loses it
 * after a while, so that one stopped instance does not stop all.
 */
export const lockHead = `SELECT seq, at, ${nowMs}, ${timelineNow},
    set_config('idle_in_transaction_session_timeout', '1500', true)
  FROM head WHERE id = 1 FOR UPDATE`;

const readEntries = `SELECT ${entryColumns} FROM inventory WHERE pet_id = ANY($1::int8[])`;

const writeGroup = `
  WITH written AS (
    INSERT INTO ledger (${ledgerColumns})
    SELECT $1::int8 + n, pet_id, quantity_before, quantity_after, status_before, status_after,
           previous, cause, key_id, request_id, reason, $2::int8
    FROM unnest($4::int8[], $5::int8[], $6::int8[], $7::text[], $8::text[], $9::int8[],
                $10::text[], $11::text[], $12::text[], $13::text[]) WITH ORDINALITY
      AS row(pet_id, quantity_before, quantity_after, status_before, status_after, previous,
             cause, key_id, request_id, reason, n)),
  moved AS (
    UPDATE inventory SET quantity = entry.quantity, status = entry.status, version = entry.version
    FROM unnest($14::int8[], $15::int8[], $16::text[], $17::int8[])
      AS entry(pet_id, quantity, status, version)
    WHERE inventory.pet_id = entry.pet_id)
  UPDATE head SET seq = $3::int8, at = $2::int8 WHERE id = 1`;

/**
 * Commits a group in two round trips: take the head and read the entries; write and commit. The
 * rules in between are the domain's. When the connection fails on the way the outcome is unknown:
 * the group is refused, never called stored and never sent again.
 */
export async function commit(
  { sql, query, confirm }: Session,
  changes: readonly Change[],
  now: number | null,
): Promise<readonly Outcome[]> {
  const petIds = new Set(changes.map((change) => change.petId));
  const [, [head], found] = await Promise.all([
    sql`BEGIN ISOLATION LEVEL READ COMMITTED`,
    query(lockHead, [now]),
    query(readEntries, [integerArray([...petIds])]),
  ]);
  const [seq, at, moment, timeline] = head!.map(Number) as [number, number, number, number];
  confirm(timeline);
  const entries = new Map<bigint, Entry>();
  for (const row of found) entries.set(row[0] as bigint, toEntry(row));
  const { rows, outcomes, tip } = append({ seq, at }, entries, changes, moment);
  if (rows.length === 0) {
    await sql`ROLLBACK`;
    return outcomes;
  }
  // Entries the group did not move keep a version at or before the old tip.
  const moved = [...entries.values()].filter((entry) => entry.version > seq);
  const [, ended] = await Promise.all([
    query(writeGroup, [seq, tip.at, tip.seq, ...rowColumns(rows), ...entryArrays(moved)]),
    sql`COMMIT`,
  ]);
  assertCommitted(ended);
  // A server replaced meanwhile may have committed what its successor will never have.
  confirm(timeline);
  return outcomes;
}

/** COMMIT of a transaction that had failed succeeds, as a ROLLBACK; only its tag tells. */
export function assertCommitted(ended: unknown): void {
  if ((ended as { command?: string }).command !== "COMMIT") {
    throw new Refusal("unavailable", "The store did not take the update; try again.");
  }
}

function rowColumns(rows: readonly LedgerRow[]): string[] {
  return [
    integerArray(rows.map((row) => row.petId)),
    integerArray(rows.map((row) => row.before?.quantity ?? null)),
    integerArray(rows.map((row) => row.after?.quantity ?? null)),
    textArray(rows.map((row) => row.before?.status ?? null)),
    textArray(rows.map((row) => row.after?.status ?? null)),
    integerArray(rows.map((row) => row.previous)),
    textArray(rows.map((row) => row.cause)),
    textArray(rows.map((row) => row.keyId)),
    textArray(rows.map((row) => row.requestId)),
    textArray(rows.map((row) => row.reason)),
  ];
}

function entryArrays(entries: readonly Entry[]): string[] {
  return [
    integerArray(entries.map((entry) => entry.petId)),
    integerArray(entries.map((entry) => entry.quantity)),
    textArray(entries.map((entry) => entry.status)),
    integerArray(entries.map((entry) => entry.version)),
  ];
}
