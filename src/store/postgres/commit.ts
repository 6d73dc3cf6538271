import { epochOf } from "../../domain/epochs.ts";
import type { Entry } from "../../domain/inventory.ts";
import {
  append,
  type Committed,
  type LedgerRow,
  type Tip,
  type Unit,
} from "../../domain/ledger.ts";
import { entryColumns, ledgerColumns, toEntry, toEpochStart } from "../rows.ts";
import { integerArray, textArray } from "./engine/arrays.ts";
import { lockHeadForGroup, readTip } from "./engine/head-lock.ts";
import type { Rows, Session } from "./engine/session.ts";
import { assertCommitted, begin } from "./engine/transaction.ts";
import type { Epochs } from "./epochs.ts";

/** Reads the entries with their ctid, and the tip as a row without a pet. */
const readGroup = `
  SELECT entry.* FROM unnest($1::int8[]) AS wanted(pet_id), LATERAL (
    SELECT ${entryColumns}, ctid::text FROM inventory WHERE inventory.pet_id = wanted.pet_id
    ORDER BY generation DESC LIMIT 1) AS entry
  UNION ALL SELECT NULL, at, NULL, seq, NULL FROM (${readTip}) AS tip`;

/**
 * Finds entries again by their ctid, which does not change while the head is locked: every
 * transaction that changes the inventory holds that lock.
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
      AS entry(id, quantity, status, version)
    WHERE inventory.ctid = entry.id)
  UPDATE ledger_end SET seq = $3::int8, at = $2::int8 WHERE seq = $1::int8`;

/**
 * Commits a group of units in two round trips: lock the head and read the entries, then write and
 * commit. The domain applies the rules in between. If the connection fails before the commit is
 * acknowledged, the outcome is unknown: the group is never reported as stored and never sent again.
 */
export async function commit(
  session: Session,
  epochs: Epochs,
  units: readonly Unit[],
  now: number | null,
): Promise<Committed> {
  const { sql, query, confirm } = session;
  const petIds = new Set(units.flatMap(({ changes }) => changes.map(({ petId }) => petId)));
  const [, [locked], found, listed] = await Promise.all([
    query(begin),
    query(lockHeadForGroup, [now]),
    query(readGroup, [integerArray([...petIds])]),
    units.some(expectsEpoch) ? query(...epochs.listStatement) : [],
  ]);
  const [lockedAt, timeline] = [Number(locked![0]), Number(locked![1])];
  confirm(timeline);
  const epoch = epochs.nameOf(locked![2] as string, timeline);
  const { tip: before, entries, ctids } = readState(found);
  const history = listed.map(toEpochStart);
  const state = { epoch, tip: before, entries, epochOf: (seq: number) => epochOf(history, seq) };
  const appended = append(state, units, lockedAt);
  const { rows, tip } = appended;
  if (rows.length === 0) {
    await sql`ROLLBACK`;
    return appended;
  }
  // Entries that the group did not change keep a version at or before the old tip.
  const moved = [...entries.values()].filter((entry) => entry.version > before.seq);
  const positions = [before.seq, tip.at, tip.seq];
  const [, , ended] = await Promise.all([
    epochs.record(query, timeline, before.seq),
    query(writeGroup, [...positions, ...rowColumns(rows), ...entryArrays(moved, ctids)]),
    sql`COMMIT`,
  ]);
  assertCommitted(ended);
  // A server that was replaced meanwhile may have committed what its successor will never have.
  confirm(timeline);
  return appended;
}

function expectsEpoch({ changes }: Unit): boolean {
  return changes.some(({ expected }) => expected?.some(({ epoch }) => epoch !== undefined));
}

/** Reads the result of `readGroup`. */
function readState(found: Rows) {
  let tip: Tip = { seq: 0, at: 0 };
  const entries = new Map<bigint, Entry>();
  const ctids = new Map<bigint, string>();
  for (const row of found) {
    if (row[0] === null) tip = { seq: Number(row[3]), at: Number(row[1]) };
    else {
      entries.set(row[0] as bigint, toEntry(row));
      ctids.set(row[0] as bigint, row[4] as string);
    }
  }
  return { tip, entries, ctids };
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

function entryArrays(entries: readonly Entry[], ctids: ReadonlyMap<bigint, string>): string[] {
  return [
    textArray(entries.map((entry) => ctids.get(entry.petId)!)),
    integerArray(entries.map((entry) => entry.quantity)),
    textArray(entries.map((entry) => entry.status)),
    integerArray(entries.map((entry) => entry.version)),
  ];
}
