import { applyUnits } from "../../domain/append.ts";
import { sourceText } from "../../domain/chain.ts";
import type { Committed, Unit } from "../../domain/ledger.ts";
import { entryColumns, storedLedgerColumns } from "../rows.ts";
import { integerArray, textArray } from "./engine/arrays.ts";
import { nowMs } from "./engine/clock.ts";
import { lockHeadForGroup, readTip } from "./engine/head-lock.ts";
import { timelineNow } from "./engine/primary.ts";
import type { Session } from "./engine/session.ts";
import { assertCommitted, begin } from "./engine/transaction.ts";
import type { Epochs } from "./epochs.ts";
import { toGroupState } from "./group-state.ts";

/** Whether a unit only sets the quantity of one pet, whatever it is now. */
export function isPlainUpdate({ changes, idempotency }: Unit): boolean {
  const [{ kind, expected, status }] = changes as [Unit["changes"][0]];
  return (
    changes.length === 1 && kind === "set" && !idempotency && !expected && status === undefined
  );
}

/**
 * Applies plain updates in the database: adds their rows with their hashes, updates the entries and
 * moves the tip. Pets without an entry are left out. Returns what was there before: the entries, and
 * the tip as a row without a pet, whose time is that of the new rows.
 *
 * $1 time or null, $2 timeline, $3 pets, $4 quantities, $5 causes, $6 keys, $7 requests, $8 reasons,
 * $9 the texts of the last four that the hash covers. On another timeline it does nothing and returns
 * nothing.
 *
 * This is `append` in SQL, for the one kind of unit that needs no decision but whether the pet exists.
 * A property test compares the two.
 */
const applyText = `
  WITH tip AS MATERIALIZED (
    SELECT seq, greatest(at, ${nowMs}) AS at, hash FROM (${readTip}) AS tip
    WHERE ${timelineNow} = $2),
  found AS MATERIALIZED (
    SELECT tip.seq + row_number() OVER () AS seq, tip.at, tip.hash AS tip_hash, asked.*, entry.*
    FROM tip, unnest($3::int8[], $4::int8[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
        AS asked(pet, amount, cause, key_id, request_id, reason, source),
      LATERAL (
        SELECT ${entryColumns}, ctid AS id FROM inventory WHERE inventory.pet_id = asked.pet
        ORDER BY generation DESC LIMIT 1) AS entry),
  -- A pet may be named several times. Each update starts from the one before it.
  chained AS (
    SELECT found.*, coalesce(lag(amount) OVER same, quantity) AS quantity_before,
      coalesce(lag(seq) OVER same, version) AS previous, lead(seq) OVER same IS NULL AS is_last
    FROM found WINDOW same AS (PARTITION BY pet ORDER BY seq)),
  hashed AS MATERIALIZED (
    SELECT chained.*, petstore_chain(tip_hash,
      '[' || seq || ',' || pet || ',' || quantity_before || ',"' || status || '",' || amount || ',"' ||
      status || '",' || source || ',' || at || ']') OVER (ORDER BY seq ROWS UNBOUNDED PRECEDING) AS hash
    FROM chained),
  written AS (
    INSERT INTO ledger (${storedLedgerColumns})
    SELECT seq, pet, quantity_before, amount, status, status, previous, cause, key_id, request_id,
      reason, at, decode(hash, 'hex')
    FROM hashed),
  moved AS (
    UPDATE inventory SET quantity = amount, version = hashed.seq, changes = inventory.changes + 1,
      generation = (inventory.changes + 1) / 16
    FROM hashed WHERE is_last AND inventory.ctid = hashed.id),
  ended AS (
    UPDATE ledger_end SET seq = last.seq, at = last.at, hash = last.hash
    FROM (SELECT seq, at, hash FROM hashed ORDER BY seq DESC LIMIT 1) AS last, tip
    WHERE ledger_end.seq = tip.seq)
  SELECT ${entryColumns} FROM found UNION ALL SELECT NULL, at, hash, seq FROM tip`;

/**
 * Commits plain updates in one round trip. The head is locked only while the database works, never
 * while it waits for this process. Returns undefined, with nothing stored, if the server is on a
 * timeline whose epoch is not recorded yet.
 */
export async function commitPlainUpdates(
  { sql, query, confirm }: Session,
  epochs: Epochs,
  units: readonly Unit[],
  now: number | null,
): Promise<Committed | undefined> {
  const expected = epochs.recordedTimeline;
  if (expected === 0) return undefined;
  const [, [locked], found, ended] = await Promise.all([
    query(begin),
    query(lockHeadForGroup, [now]),
    query(applyText, [now, expected, ...unitColumns(units)]),
    // Its response shows that the commit is durable. That of a statement in its own transaction does
    // not: the server may send it first.
    sql`COMMIT`,
  ]);
  const timeline = Number(locked![1]);
  confirm(timeline);
  if (timeline !== expected) return undefined;
  assertCommitted(ended);
  const epoch = epochs.nameOf(locked![2] as string, timeline);
  const { tip, entries } = toGroupState(found);
  const state = { epoch, tip, entries, remembered: new Map(), epochOf: () => epoch };
  return applyUnits(state, units, tip.at);
}

function unitColumns(units: readonly Unit[]): string[] {
  const changes = units.map((unit) => unit.changes[0]!);
  return [
    integerArray(changes.map(({ petId }) => petId)),
    integerArray(changes.map(({ amount }) => amount)),
    textArray(units.map(({ cause }) => cause)),
    textArray(units.map(({ keyId }) => keyId)),
    textArray(units.map(({ requestId }) => requestId)),
    textArray(changes.map(({ reason }) => reason)),
    textArray(
      units.map(({ cause, keyId, requestId }, index) =>
        sourceText(cause, keyId, requestId, changes[index]!.reason),
      ),
    ),
  ];
}
