import type { Entry } from "../../domain/inventory.ts";
import { append, type Change, type LedgerRow, type Outcome } from "../../domain/ledger.ts";
import { entryColumns, ledgerColumns, toEntry } from "../rows.ts";
import { integerArray, textArray } from "./engine/arrays.ts";
import { timelineNow } from "./engine/primary.ts";
import type { Session } from "./engine/session.ts";
import { assertCommitted, begin, waitForDisk } from "./engine/transaction.ts";

/** The database's own time in milliseconds, unless the first parameter gives another. */
export const nowMs =
  "coalesce($1::int8, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8)";

/**
 * Takes the ledger's head: whoever writes the ledger locks the row of the store, which is never
 * updated for it. In a statement of its own, because a statement that locks and also reads would
 * read what was there before it got the lock. Whoever holds the head and falls silent loses it
 * after a while, so that one stopped instance does not stop all. Tells what time it is, and the timeline.
 */
export const lockHead = lockHeadWith("");

/**
 * A group is found by the index, from its end. A plan made when the inventory was small would read
 * it whole, or a pet's part of it by a bitmap, with all versions that could not be removed yet.
 */
const lockHeadForGroup = lockHeadWith(
  ", set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)",
);

function lockHeadWith(more: string): string {
  return `SELECT ${nowMs}, ${timelineNow}, set_config('idle_in_transaction_session_timeout', '1500', true),
      ${waitForDisk}${more}
    FROM store WHERE id = 1 FOR UPDATE`;
}

/** The newest is found first, however many versions before it the server still has to keep. */
const readTip = "SELECT seq, at FROM ledger_end ORDER BY seq DESC LIMIT 1";

/** The entries, and among them the ledger's end: the row without a pet. */
const readGroup = `
  SELECT entry.* FROM unnest($1::int8[]) AS asked(pet_id), LATERAL (
    SELECT ${entryColumns}, ctid::text FROM inventory WHERE inventory.pet_id = asked.pet_id
    ORDER BY generation DESC LIMIT 1) AS entry
  UNION ALL SELECT NULL, at, NULL, seq, NULL FROM (${readTip}) AS tip`;

/** Moves the ledger's end from $1 to $2, at $3. */
export const moveTip = "UPDATE ledger_end SET seq = $2::int8, at = $3::int8 WHERE seq = $1::int8";

/** Takes the head for a transaction that writes the ledger by statements of its own. */
export async function takeHead({ query, confirm }: Session, now: number | null) {
  const [locked] = await query(lockHead, [now]);
  const [moment, timeline] = locked!.map(Number) as [number, number];
  confirm(timeline);
  const [tip] = await query(readTip);
  const [seq, at] = tip!.map(Number) as [number, number];
  return { seq, at: Math.max(at, moment), timeline };
}

/**
 * Entries are found again by their place in the table, which stays the same while the head is held:
 * whoever changes the inventory holds it.
 */
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
    UPDATE inventory SET quantity = entry.quantity, status = entry.status, version = entry.version,
      changes = changes + 1, generation = (changes + 1) / 16
    FROM unnest($14::tid[], $15::int8[], $16::text[], $17::int8[])
      AS entry(place, quantity, status, version)
    WHERE inventory.ctid = entry.place)
  UPDATE ledger_end SET seq = $3::int8, at = $2::int8 WHERE seq = $1::int8`;

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
  const [, [locked], found] = await Promise.all([
    query(begin),
    query(lockHeadForGroup, [now]),
    query(readGroup, [integerArray([...petIds])]),
  ]);
  const [moment, timeline] = locked!.map(Number) as [number, number];
  confirm(timeline);
  let [seq, at] = [0, 0];
  const entries = new Map<bigint, Entry>();
  const places = new Map<bigint, string>();
  for (const row of found) {
    if (row[0] === null) [seq, at] = [Number(row[3]), Number(row[1])];
    else {
      entries.set(row[0] as bigint, toEntry(row));
      places.set(row[0] as bigint, row[4] as string);
    }
  }
  const { rows, outcomes, tip } = append({ seq, at }, entries, changes, moment);
  if (rows.length === 0) {
    await sql`ROLLBACK`;
    return outcomes;
  }
  // Entries the group did not move keep a version at or before the old tip.
  const moved = [...entries.values()].filter((entry) => entry.version > seq);
  const [, ended] = await Promise.all([
    query(writeGroup, [seq, tip.at, tip.seq, ...rowColumns(rows), ...entryArrays(moved, places)]),
    sql`COMMIT`,
  ]);
  assertCommitted(ended);
  // A server replaced meanwhile may have committed what its successor will never have.
  confirm(timeline);
  return outcomes;
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

function entryArrays(entries: readonly Entry[], places: Map<bigint, string>): string[] {
  return [
    textArray(entries.map((entry) => places.get(entry.petId)!)),
    integerArray(entries.map((entry) => entry.quantity)),
    textArray(entries.map((entry) => entry.status)),
    integerArray(entries.map((entry) => entry.version)),
  ];
}
