import type { Database } from "bun:sqlite";
import type { Appended, Remembered } from "../../domain/ledger/append.ts";
import {
  createIdempotencyIndex,
  findUsedKey,
  nextPageRows,
  pageRowsMin,
  type StoredKeys,
  storedKeysOf,
} from "../../domain/ledger/idempotency.ts";
import type { Unit } from "../../domain/ledger/ledger.ts";
import { rememberedColumns, stockColumns, toStockRow, toStoredKeys } from "../rows.ts";

type EpochOf = (seq: number) => string | undefined;

/** Stores and finds idempotency keys, on the connection that commits. */
export function createIdempotencyMemory(database: Database) {
  const index = createIdempotencyIndex();
  let pageRows = pageRowsMin;
  const pageAfter = database.query(
    `SELECT ${rememberedColumns} FROM remembered_keys WHERE seq > ? ORDER BY seq LIMIT ?`,
  );
  const bySeq = database.query(`SELECT ${rememberedColumns} FROM remembered_keys WHERE seq = ?`);
  const stock = database.query(
    `SELECT ${stockColumns} FROM ledger WHERE seq >= ? ORDER BY seq LIMIT ?`,
  );
  const insert = database.query(
    `INSERT INTO remembered_keys (${rememberedColumns}) VALUES (?, ?, ?)`,
  );
  const remove = database.query(
    `DELETE FROM remembered_keys WHERE seq IN
       (SELECT seq FROM remembered_keys ORDER BY seq LIMIT ?2) AND at < ?1`,
  );
  const oldest = database.query("SELECT seq FROM remembered_keys ORDER BY seq LIMIT 1");

  /** Reads more rows into the index, for a few milliseconds. Returns false when none is left. */
  function load(): boolean {
    const page = pageAfter.values(index.seq, pageRows).map(toStoredKeys);
    for (const stored of page) index.add(stored);
    const isFull = page.length === pageRows;
    if (isFull) pageRows = nextPageRows(page);
    return isFull;
  }

  /** The newest use of a key. Older ones have expired. */
  function findKey(key: string, epochOf: EpochOf): Remembered | undefined {
    for (const seq of index.candidates(key)) {
      const [row] = bySeq.values(seq);
      if (!row) continue;
      const stored = toStoredKeys(row);
      const used = findUsedKey(stored, key);
      if (!used) continue;
      const entries = stock.values(used.firstSeq, used.rows).map((values) => {
        const { petId, after: stockAfter, seq: version } = toStockRow(values);
        return { petId, ...stockAfter!, version };
      });
      return { request: used.request, at: stored.at, entries, epoch: epochOf(used.firstSeq)! };
    }
    return undefined;
  }

  return {
    /** Reads the first results of the units' keys. Call it inside the transaction. */
    find(units: readonly Unit[], epochOf: EpochOf): Map<string, Remembered> {
      const found = new Map<string, Remembered>();
      // Usually nothing is left to read. After a commit that failed, its keys may have been stored.
      while (load());
      for (const { idempotency } of units) {
        const remembered = idempotency && findKey(idempotency.key, epochOf);
        if (remembered) found.set(idempotency.key, remembered);
      }
      return found;
    },
    /** Stores the keys that were used. Call it inside the transaction. */
    store(appended: Appended): StoredKeys {
      const stored = storedKeysOf(appended);
      insert.run(stored.seq, stored.at, stored.records);
      return stored;
    },
    /** Adds stored keys to the index. Call it after the commit. */
    committed: (stored: StoredKeys) => index.add(stored),
    load,
    /** Deletes old rows. Call it inside a transaction, and `pruned` after it. */
    prune: (before: number, commitsMax: number) => remove.run(before, commitsMax).changes,
    /** Removes deleted rows from the index. */
    pruned(): void {
      const [row] = oldest.values();
      index.forget(row ? Number(row[0]) : index.seq);
    },
  };
}
