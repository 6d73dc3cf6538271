import type { Remembered, UsedKey } from "../../domain/ledger/append.ts";
import { type EpochStart, epochOf } from "../../domain/ledger/epochs.ts";
import {
  createIdempotencyIndex,
  findUsedKey,
  type IdempotencyIndex,
  nextPageRows,
  packKeys,
  pageRowsMin,
  type StoredKeys,
} from "../../domain/ledger/idempotency.ts";
import type { Unit } from "../../domain/ledger/ledger.ts";
import { rememberedColumns, stockColumns, toStockRow, toStoredKeys } from "../rows.ts";
import { bytesText, integerArray } from "./engine/arrays.ts";
import { timelineNow } from "./engine/primary.ts";
import type { Query, Rows } from "./engine/session.ts";
import { together } from "./engine/transaction.ts";

/**
 * A page of $2 rows after $1. A row without records follows, with the last `seq` of the table and the
 * timeline of the server.
 */
const newerText = `
  (SELECT ${rememberedColumns} FROM remembered_keys WHERE seq > $1::int8 ORDER BY seq LIMIT $2)
  UNION ALL SELECT (SELECT max(seq) FROM remembered_keys), ${timelineNow}, NULL`;
const bySeqText = `SELECT ${rememberedColumns} FROM remembered_keys WHERE seq = ANY ($1::int8[])`;
const stockText = `
  SELECT ${stockColumns} FROM unnest($1::int8[], $2::int8[]) AS wanted(first_seq, row_count)
    JOIN ledger ON seq >= first_seq AND seq < first_seq + row_count`;
const insertText = `INSERT INTO remembered_keys (${rememberedColumns})
  VALUES ($1::int8, $2::int8, $3::bytea)`;
/** Tests only the oldest rows, because a search for old rows would read all of them. */
const pruneText = `
  DELETE FROM remembered_keys WHERE at < $1::int8
    AND seq IN (SELECT seq FROM remembered_keys ORDER BY seq LIMIT $2)`;
const oldestText = "SELECT seq FROM remembered_keys ORDER BY seq LIMIT 1";

/** The newest use of each key of the units. Older uses have expired. */
async function findUses(index: IdempotencyIndex, query: Query, units: readonly Unit[]) {
  const candidates = new Map<string, readonly number[]>();
  for (const { idempotency } of units) {
    const seqs = idempotency ? index.candidates(idempotency.key) : [];
    if (seqs.length > 0) candidates.set(idempotency!.key, seqs);
  }
  if (candidates.size === 0) return [];
  const wanted = new Set([...candidates.values()].flat());
  const rows = (await query(bySeqText, [integerArray([...wanted])])).map(toStoredKeys);
  const stored = new Map(rows.map((row) => [row.seq, row]));
  return Array.from(candidates, ([key, seqs]) => {
    for (const row of seqs.flatMap((seq) => stored.get(seq) ?? [])) {
      const used = findUsedKey(row, key);
      if (used) return { ...used, at: row.at };
    }
    return undefined;
  }).filter((use) => use !== undefined);
}

/** The keys of units that each add one row. Undefined if one of them may have been used before. */
function newUses(index: IdempotencyIndex, units: readonly Unit[]): UsedKey[] | undefined {
  const used: UsedKey[] = [];
  const keys = new Set<string>();
  for (let row = 0; row < units.length; row++) {
    const { idempotency } = units[row]!;
    if (!idempotency) continue;
    const { key, request } = idempotency;
    if (keys.has(key) || index.candidates(key).length > 0) return undefined;
    keys.add(key);
    used.push({ key, request, firstSeq: row, rows: 1 });
  }
  return used;
}

type ListEpochs = () => Promise<readonly EpochStart[]>;

async function findRemembered(
  index: IdempotencyIndex,
  query: Query,
  units: readonly Unit[],
  listEpochs: ListEpochs,
): Promise<Map<string, Remembered>> {
  const uses = await findUses(index, query, units);
  const remembered = new Map<string, Remembered>();
  if (uses.length === 0) return remembered;
  const firsts = integerArray(uses.map(({ firstSeq }) => firstSeq));
  const counts = integerArray(uses.map(({ rows }) => rows));
  const reads = [query(stockText, [firsts, counts]), listEpochs()] as const;
  const [found, history] = await together(reads);
  const bySeq = new Map(found.map(toStockRow).map((row) => [row.seq, row]));
  for (const { key, request, firstSeq, rows: count, at } of uses) {
    const entries = Array.from({ length: count }, (_, nth) => {
      const { petId, after, seq: version } = bySeq.get(firstSeq + nth)!;
      return { petId, ...after!, version };
    });
    remembered.set(key, { request, at, entries, epoch: epochOf(history, firstSeq)! });
  }
  return remembered;
}

/** Where several instances store keys, one in this many commits tries whether they still do. */
const behindCallsMax = 32;

const lastOf = (page: Rows) => page.at(-1)!;

export type IdempotencyMemory = ReturnType<typeof createIdempotencyMemory>;

/**
 * Stores and finds idempotency keys. Every instance keeps an index of the keys that all instances
 * stored, and reads what is new before it commits.
 */
export function createIdempotencyMemory() {
  /** Has every row up to its `seq` of the server with this timeline. */
  let index = createIdempotencyIndex();
  let timeline = 0;
  /** The index that `newerStatement` continues, and whether it was complete under the lock. */
  let asked: IdempotencyIndex | undefined;
  let isComplete = false;

  /** How many calls of `newKeys` will still return undefined. */
  let behindCalls = 0;

  let pageRows = pageRowsMin;
  const pageAfter = (seq: number) => [newerText, [seq, pageRows]] as const;

  function add(stored: StoredKeys): void {
    // Two loads may have read the same rows.
    if (stored.seq > index.seq) index.add(stored);
  }

  /** Adds a page that continues the index. Returns whether the index is complete. */
  function addPage(page: Rows): boolean {
    const rows = page.slice(0, -1).map(toStoredKeys);
    for (const stored of rows) add(stored);
    const isLast = index.seq >= Number(lastOf(page)[0] ?? 0);
    if (!isLast) pageRows = nextPageRows(rows);
    return isLast;
  }

  /** A promoted server may lack the last rows of its predecessor, and have others instead. */
  function startAgain(current: number): void {
    index = createIdempotencyIndex();
    timeline = current;
  }

  return {
    /** Reads the keys that were stored since the last call. The first call reads all. */
    async load(query: Query): Promise<void> {
      for (;;) {
        const [from, continued] = [index.seq, index];
        const page = await query(...pageAfter(from));
        const current = Number(lastOf(page)[1]);
        if (current !== timeline) startAgain(current);
        // The page does not continue an index that was started again, here or by another call.
        if (index !== continued && from > 0) continue;
        if (addPage(page)) return;
      }
    },
    /** Reads a page of keys that are not in the index. Send it after the statement that locks the head. */
    newerStatement() {
      asked = index;
      return pageAfter(index.seq);
    },
    /**
     * Adds the result of `newerStatement`. Returns false if keys are left to load: there are many, or
     * the index belongs to another server.
     */
    addNewer(rows: Rows, current: number): boolean {
      if (current !== timeline) startAgain(current);
      isComplete = index === asked && addPage(rows);
      return isComplete;
    },
    /**
     * The keys of units that each add one row. Undefined if one is in the index, or the index is probably
     * incomplete. Afterwards call `committed`, or `wasBehind` if the index was incomplete.
     */
    newKeys(units: readonly Unit[], current: number) {
      if (current !== timeline) return undefined;
      if (behindCalls > 0) {
        behindCalls -= 1;
        return undefined;
      }
      const used = newUses(index, units);
      if (!used) return undefined;
      asked = index;
      isComplete = true;
      return { after: index.seq, records: bytesText(packKeys(0, 0, used).records) };
    },
    /** Notes that other instances store keys, so that the next calls of `newKeys` return undefined. */
    wasBehind(): void {
      behindCalls = behindCallsMax;
    },
    /** Reads the first results of the units' keys. Lists epochs only if there is such a result. */
    find: (query: Query, units: readonly Unit[], listEpochs: ListEpochs) =>
      findRemembered(index, query, units, listEpochs),
    /** Stores the keys that were used, in the transaction that stores their rows. */
    store: (query: Query, { seq, at, records }: StoredKeys) =>
      query(insertText, [seq, at, bytesText(records)]),
    /** Adds stored keys to the index. Call it after the commit. */
    committed(stored: StoredKeys): void {
      // Another call may have started again meanwhile. Its index must not skip the rows before.
      if (index === asked && isComplete) add(stored);
    },
    async prune(query: Query, before: number, commitsMax: number): Promise<number> {
      const removed = await query(`${pruneText} RETURNING seq`, [before, commitsMax]);
      const [oldest] = await query(oldestText);
      index.forget(oldest ? Number(oldest[0]) : index.seq);
      return removed.length;
    },
  };
}
