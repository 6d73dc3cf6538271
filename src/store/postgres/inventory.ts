import type { Entry } from "../../domain/inventory.ts";
import { append, type Committed, type LedgerRow, type Unit } from "../../domain/ledger.ts";
import type { InventoryReader } from "../../domain/ports.ts";
import { int64Max } from "../../domain/values/int64.ts";
import {
  entryColumns,
  firstIdAfter,
  ledgerColumns,
  stockColumns,
  toEntry,
  toEpochStart,
  toLedgerRow,
  toStockRow,
} from "../rows.ts";
import { integerArray, textArray } from "./engine/arrays.ts";
import { type PrimaryGuard, timelineNow } from "./engine/primary.ts";
import type { Query, Rows, Session } from "./engine/session.ts";
import { assertCommitted, begin, waitForDisk } from "./engine/transaction.ts";

/**
 * The server's timeline changes when a standby is promoted, and a standby that lacked the last
 * commits may by then show the same `seq` with other content. The function fails on a server in
 * recovery, so that no look is ever answered by a standby.
 */
const headText = `SELECT epoch, ${timelineNow},
    (SELECT seq FROM ledger_end ORDER BY seq DESC LIMIT 1), keys_version
  FROM store WHERE id = 1`;
const ledgerAfter = `SELECT ${ledgerColumns} FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2`;
const stockAfter = withTimeline(
  `SELECT ${stockColumns} FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2`,
);
const entriesFrom = withTimeline(
  `SELECT ${entryColumns} FROM inventory WHERE pet_id >= $1 ORDER BY pet_id LIMIT $2`,
);
/**
 * Adds a row that tells the timeline of the server that gave the page, also of an empty page.
 * Behind a pooler every statement may be answered by another server. For pages of four columns
 * whose first is never null and whose second is a number.
 */
function withTimeline(page: string): string {
  return `(${page}) UNION ALL SELECT NULL, ${timelineNow}, NULL, NULL`;
}

const epochsText = "SELECT epoch, from_seq FROM epochs ORDER BY number";

/**
 * Reads the inventory and its ledger: with `quick` what requests wait for, with `long` pages of many
 * rows. The epoch contains the database's oid and the timeline, because a copy of a database has the
 * original's stored epoch, and a promoted standby may lack its last commits.
 */
export function createInventoryReader(
  databaseOid: string,
  guard: PrimaryGuard,
  quick: Query,
  long: Query,
): InventoryReader {
  /** Reads a page made by `withTimeline`, and checks which server sent it. */
  async function page(text: string, values: readonly unknown[]): Promise<Rows> {
    const rows = await long(text, values);
    const timelineAt = rows.findLastIndex((row) => row[0] === null);
    guard.confirm(Number(rows[timelineAt]![1]));
    return rows.toSpliced(timelineAt, 1);
  }

  return {
    async readHead() {
      const [row] = await quick(headText);
      const [epoch, timeline, seq, keysVersion] = row!;
      guard.confirm(Number(timeline));
      return {
        epoch: `${epoch}-${databaseOid}.${timeline}`,
        seq: Number(seq),
        keysVersion: Number(keysVersion),
      };
    },
    isOutdated: (epoch) => Number(epoch.slice(epoch.lastIndexOf(".") + 1)) < guard.newestTimeline,
    ledgerAfter: async (seq, rowsMax) => (await long(ledgerAfter, [seq, rowsMax])).map(toLedgerRow),
    stockAfter: async (seq, rowsMax) => (await page(stockAfter, [seq, rowsMax])).map(toStockRow),
    entriesAfter: async (petId, rowsMax) =>
      petId === int64Max
        ? []
        : (await page(entriesFrom, [firstIdAfter(petId), rowsMax])).map(toEntry),
    listEpochs: async () => (await long(epochsText)).map(toEpochStart),
  };
}

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
  units: readonly Unit[],
  now: number | null,
): Promise<Committed> {
  const petIds = new Set(units.flatMap(({ changes }) => changes.map(({ petId }) => petId)));
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
  const epochOf = () => undefined; // TODO-P
  const appended = append({ tip: { seq, at }, entries, epochOf }, units, moment);
  const { rows, tip } = appended;
  if (rows.length === 0) {
    await sql`ROLLBACK`;
    return appended;
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
  return appended;
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
