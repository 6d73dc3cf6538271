import { append } from "../../domain/ledger/append.ts";
import { genesisHash } from "../../domain/ledger/chain.ts";
import { countRowsMax, hasCounts } from "../../domain/ledger/counts.ts";
import { epochOf } from "../../domain/ledger/epochs.ts";
import { storedKeysOf } from "../../domain/ledger/idempotency.ts";
import type { Entry } from "../../domain/ledger/inventory.ts";
import type { Committed, Tip, Unit } from "../../domain/ledger/ledger.ts";
import { unavailable } from "../../domain/running/errors.ts";
import { entryColumns, ledgerColumns, toEntry, toEpochStart, toLedgerRow } from "../rows.ts";
import { integerArray, textArray } from "./engine/arrays.ts";
import { lockHeadForGroup, readTip } from "./engine/head-lock.ts";
import { insertRows, rowArrays } from "./engine/ledger-rows.ts";
import type { Rows, Session } from "./engine/session.ts";
import { assertCommitted, begin, confirmed, together } from "./engine/transaction.ts";
import * as plainUpdates from "./plain-updates.ts";

/** Reads the entries with their ctid, and the tip as a row without a pet, its hash as the status. */
const readGroup = `
  SELECT entry.* FROM unnest($1::int8[]) AS wanted(pet_id), LATERAL (
    SELECT ${entryColumns}, ctid::text FROM inventory WHERE inventory.pet_id = wanted.pet_id
    ORDER BY generation DESC LIMIT 1) AS entry
  UNION ALL SELECT NULL, at, hash, seq, NULL FROM (${readTip}) AS tip`;

/**
 * Reads the rows of counted pets after their counts, each of which refers to the one before it, and those
 * at the counts.
 */
const readPast = `
  WITH RECURSIVE past AS (
    SELECT ledger.*, counted_at
    FROM unnest($1::int8[], $2::int8[]) AS one(id, counted_at), LATERAL (
      SELECT version FROM inventory WHERE pet_id = id ORDER BY generation DESC LIMIT 1) AS entry
    JOIN ledger ON ledger.seq = version
    WHERE version > counted_at
    UNION ALL
    SELECT ledger.*, counted_at FROM past JOIN ledger ON ledger.seq = past.previous
    WHERE past.previous > counted_at)
  (SELECT ${ledgerColumns} FROM past LIMIT ${countRowsMax})
  UNION ALL SELECT ${ledgerColumns} FROM ledger WHERE seq = ANY ($2::int8[])`;

/**
 * Finds entries again by their ctid, which does not change while the head is locked: every
 * transaction that changes the inventory holds that lock.
 */
const writeGroup = `
  WITH written AS (${insertRows(9)}),
  moved AS (
    UPDATE inventory SET quantity = entry.quantity, status = entry.status, version = entry.version,
      changes = changes + 1, generation = (changes + 1) / 16
    FROM unnest($5::tid[], $6::int8[], $7::text[], $8::int8[])
      AS entry(id, quantity, status, version)
    WHERE inventory.ctid = entry.id)
  UPDATE ledger_end SET seq = $3::int8, at = $2::int8, hash = $4::text WHERE seq = $1::int8`;

/**
 * Commits a group of units. Plain updates take one round trip, others two: lock the head and read the
 * entries, then write and commit. The domain applies the rules in between. If the connection fails
 * before the commit is acknowledged, the outcome is unknown: the group is never reported as stored and
 * never sent again.
 */
export async function commit(
  session: Session,
  parts: plainUpdates.CommitParts,
  units: readonly Unit[],
  terms: plainUpdates.CommitTerms,
): Promise<Committed> {
  if (plainUpdates.arePlainUpdates(units)) {
    const committed = await plainUpdates.commitPlainUpdates(session, parts, units, terms);
    if (committed) return committed;
  }
  for (;;) {
    const committed = await tryCommit(session, parts, units, terms);
    if (committed) return committed;
    // Without the lock, because much may have been stored since the last load.
    await parts.idempotency.load(session.query);
  }
}

/**
 * Commits in two round trips. The head stays locked between them and until the transaction ends, so what
 * the second one stores is stored before every later update, whenever it arrives. Returns undefined, with
 * nothing stored, if more idempotency keys have to be loaded first.
 */
async function tryCommit(
  session: Session,
  { epochs, idempotency }: plainUpdates.CommitParts,
  units: readonly Unit[],
  { now, giveUpAt }: plainUpdates.CommitTerms,
): Promise<Committed | undefined> {
  const { sql, query, confirm, clock } = session;
  const waitMs = Math.floor(giveUpAt - performance.now());
  if (waitMs < 1) throw unavailable("busy");
  const petIds = new Set(units.flatMap(({ changes }) => changes.map(({ petId }) => petId)));
  const hasIdempotency = units.some(({ idempotency }) => idempotency);
  const listEpochs = async () => (await query(...epochs.listStatement)).map(toEpochStart);
  const counting = units.filter(hasCounts);
  // One after the other, because each unit may read so many rows.
  const readCounted = ({ changes }: Unit) => {
    const counts = changes.filter(({ countedAt }) => countedAt);
    const seqs = counts.map((count) => count.countedAt!.seq);
    return query(readPast, [integerArray(counts.map(({ petId }) => petId)), integerArray(seqs)]);
  };
  const [, [locked], found, history, newer, past] = await together([
    query(begin),
    query(lockHeadForGroup, [now, String(waitMs)]),
    query(readGroup, [integerArray([...petIds])]),
    counting.length > 0 || units.some(expectsVersion) ? listEpochs() : [],
    hasIdempotency ? query(...idempotency.newerStatement()) : [],
    Promise.all(counting.map(readCounted)),
  ] as const);
  const [lockedAt, timeline] = [Number(locked![0]), Number(locked![1])];
  confirm(timeline);
  clock.saw(Number(locked![3]), timeline);
  // The callers may have their responses, and the next updates may have been stored before this lock.
  if (performance.now() > giveUpAt) {
    await sql`ROLLBACK`;
    throw unavailable("timeout");
  }
  if (hasIdempotency && !idempotency.addNewer(newer, timeline)) {
    await sql`ROLLBACK`;
    return undefined;
  }
  const epoch = epochs.nameOf(locked![2] as string, timeline);
  const { tip: before, entries, ctids } = readState(found);
  const pastRows = new Map(
    past
      .flat()
      .map(toLedgerRow)
      .map((row) => [row.seq, row]),
  );
  const state = {
    epoch,
    tip: before,
    entries,
    remembered: hasIdempotency ? await idempotency.find(query, units, listEpochs) : new Map(),
    epochOf: (seq: number) => epochOf(history, seq),
    storedRow: (seq: number) => pastRows.get(seq),
    listEpochs: () => history,
  };
  const appended = append(state, units, lockedAt);
  const { rows, hashes, tip } = appended;
  if (rows.length === 0) {
    await sql`ROLLBACK`;
    // Replayed results of a server that was replaced meanwhile may be lost.
    confirm(timeline);
    return appended;
  }
  // Entries that the group did not change keep a version at or before the old tip.
  const moved = [...entries.values()].filter((entry) => entry.version > before.seq);
  const positions = [before.seq, tip.at, tip.seq, tip.hash];
  const storedKeys = appended.usedKeys.length > 0 ? storedKeysOf(appended) : undefined;
  const committing = [
    epochs.record(query, timeline, before.seq),
    query(writeGroup, [...positions, ...entryArrays(moved, ctids), ...rowArrays(rows, hashes)]),
    storedKeys && idempotency.store(query, storedKeys),
    sql`COMMIT`,
  ] as const;
  const [, , , ended] = await confirmed(together(committing));
  assertCommitted(ended);
  plainUpdates.confirmStored(session, timeline);
  if (storedKeys) idempotency.committed(storedKeys);
  return appended;
}

function expectsVersion({ changes }: Unit): boolean {
  return changes.some(({ expected }) => expected !== undefined);
}

/** Reads the result of `readGroup`. */
function readState(found: Rows) {
  let tip: Tip = { seq: 0, at: 0, hash: genesisHash };
  const entries = new Map<bigint, Entry>();
  const ctids = new Map<bigint, string>();
  for (const row of found) {
    if (row[0] === null) {
      tip = { seq: Number(row[3]), at: Number(row[1]), hash: row[2] as string };
    } else {
      entries.set(row[0] as bigint, toEntry(row));
      ctids.set(row[0] as bigint, row[4] as string);
    }
  }
  return { tip, entries, ctids };
}

function entryArrays(entries: readonly Entry[], ctids: ReadonlyMap<bigint, string>): string[] {
  return [
    textArray(entries.map((entry) => ctids.get(entry.petId)!)),
    integerArray(entries.map((entry) => entry.quantity)),
    textArray(entries.map((entry) => entry.status)),
    integerArray(entries.map((entry) => entry.version)),
  ];
}
