import type { Remembered, UsedKey } from "../../domain/append.ts";
import { type EpochStart, epochOf } from "../../domain/epochs.ts";
import { createKeyIndex, type StoredKeys, unpackKeys } from "../../domain/idempotency.ts";
import type { Unit } from "../../domain/ledger.ts";
import { rememberedColumns, stockColumns, toStockRow, toStoredKeys } from "../rows.ts";
import { bytesText, integerArray } from "./engine/arrays.ts";
import { timelineNow } from "./engine/primary.ts";
import type { Query, Rows } from "./engine/session.ts";

/**
 * Stores and finds idempotency keys. Every instance keeps an index of the keys that all instances
 * stored, and reads what is new before it commits.
 */
export interface KeyMemory {
  /** Reads the keys that were stored since the last call. Many may be left after a start. */
  load(query: Query): Promise<void>;
  /** Reads the rest, if it is little. Send it after the statement that locks the head. */
  newerStatement(): readonly [text: string, values: readonly unknown[]];
  /** Adds the result of `newerStatement`. Returns false if the index belongs to another server. */
  addNewer(rows: Rows, timeline: number): boolean;
  /** Reads the first results of the units' keys. Lists epochs only if there is one. */
  find(
    query: Query,
    units: readonly Unit[],
    listEpochs: () => Promise<readonly EpochStart[]>,
  ): Promise<Map<string, Remembered>>;
  /** Stores the keys that were used, in the transaction that stores their rows. */
  store(query: Query, stored: StoredKeys): Promise<unknown>;
  /** Adds stored keys to the index. Call it after the commit. */
  committed(stored: StoredKeys): void;
  prune(query: Query, before: number, commitsMax: number): Promise<number>;
}

/** Ends with a row without `seq` that has the timeline of the server, also if the page is empty. */
const newerText = `
  (SELECT ${rememberedColumns} FROM remembered_keys WHERE seq > $1::int8 ORDER BY seq LIMIT $2)
  UNION ALL SELECT NULL, ${timelineNow}, NULL`;
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

const pageCommits = 2_000;

export function createKeyMemory(): KeyMemory {
  const index = createKeyIndex();
  /** The timeline of the server that the index was read from. */
  let timeline = 0;

  function add(stored: StoredKeys): void {
    // Two loads may have read the same rows.
    if (stored.seq > index.seq) index.add(stored);
  }

  function addPage(rows: Rows): void {
    for (const row of rows) if (row[0] !== null) add(toStoredKeys(row));
  }

  /** A promoted server may lack the last rows of its predecessor, and have others instead. */
  function startAgain(current: number): void {
    index.clear();
    timeline = current;
  }

  /** The newest use of each key. Older ones have expired. */
  async function findUses(query: Query, keys: ReadonlySet<string>) {
    const wanted = [...keys].flatMap((key) => index.candidates(key));
    if (wanted.length === 0) return [];
    const rows = await query(bySeqText, [integerArray(wanted)]);
    const uses = new Map<string, UsedKey & { readonly at: number }>();
    for (const stored of rows.map(toStoredKeys).sort((a, b) => a.seq - b.seq)) {
      for (const used of unpackKeys(stored)) {
        if (keys.has(used.key)) uses.set(used.key, { ...used, at: stored.at });
      }
    }
    return [...uses.values()];
  }

  return {
    async load(query) {
      for (;;) {
        const from = index.seq;
        const page = await query(newerText, [from, pageCommits]);
        const current = Number(page.find((row) => row[0] === null)![1]);
        if (current !== timeline) {
          startAgain(current);
          if (from > 0) continue;
        }
        addPage(page);
        if (page.length <= pageCommits) return;
      }
    },
    newerStatement: () => [newerText, [index.seq, pageCommits]],
    addNewer(rows, current) {
      if (current !== timeline) {
        startAgain(current);
        return false;
      }
      addPage(rows);
      return rows.length <= pageCommits;
    },
    async find(query, units, listEpochs) {
      const keys = new Set(units.flatMap(({ idempotency }) => idempotency?.key ?? []));
      const uses = await findUses(query, keys);
      const remembered = new Map<string, Remembered>();
      if (uses.length === 0) return remembered;
      const firsts = integerArray(uses.map(({ firstSeq }) => firstSeq));
      const counts = integerArray(uses.map(({ rows }) => rows));
      const [found, history] = await Promise.all([
        query(stockText, [firsts, counts]),
        listEpochs(),
      ]);
      const bySeq = new Map(found.map(toStockRow).map((row) => [row.seq, row]));
      for (const { key, request, firstSeq, rows: count, at } of uses) {
        const entries = Array.from({ length: count }, (_, nth) => {
          const { petId, after, seq: version } = bySeq.get(firstSeq + nth)!;
          return { petId, ...after!, version };
        });
        remembered.set(key, { request, at, entries, epoch: epochOf(history, firstSeq)! });
      }
      return remembered;
    },
    store: (query, { seq, at, records }) => query(insertText, [seq, at, bytesText(records)]),
    committed: add,
    async prune(query, before, commitsMax) {
      const removed = await query(`${pruneText} RETURNING seq`, [before, commitsMax]);
      const [oldest] = await query(oldestText);
      index.forget(oldest ? Number(oldest[0]) : index.seq);
      return removed.length;
    },
  };
}
