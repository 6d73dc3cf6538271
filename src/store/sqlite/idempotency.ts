import type { Database } from "bun:sqlite";
import type { Appended, Remembered } from "../../domain/append.ts";
import {
  createKeyIndex,
  findUsedKey,
  type StoredKeys,
  storedKeysOf,
} from "../../domain/idempotency.ts";
import type { Unit } from "../../domain/ledger.ts";
import { rememberedColumns, stockColumns, toStockRow, toStoredKeys } from "../rows.ts";

/** Stores and finds idempotency keys, on the connection that commits. */
export interface KeyMemory {
  /** Reads the first results of the units' keys. Call it inside the transaction. */
  find(
    units: readonly Unit[],
    epochOf: (seq: number) => string | undefined,
  ): Map<string, Remembered>;
  /** Stores the keys that were used. Call it inside the transaction. */
  store(appended: Appended): StoredKeys | undefined;
  /** Adds stored keys to the index. Call it after the commit. */
  committed(stored: StoredKeys): void;
  /** Reads more rows into the index, for a few milliseconds. Returns false when none is left. */
  load(): boolean;
  /** Deletes old rows. Call it inside a transaction, and `pruned` after it. */
  prune(before: number, commitsMax: number): number;
  /** Removes deleted rows from the index. */
  pruned(): void;
}

const pageCommits = 2_000;
const pageBytes = 1_000_000;

/** A page of rows after ?1: at most ?2 rows, and not much more than ?3 bytes. */
const pageText = `
  SELECT ${rememberedColumns} FROM remembered_keys WHERE seq > ?1 AND seq <= (
    SELECT max(seq) FROM (
      SELECT seq, sum(size) OVER (ORDER BY seq ROWS UNBOUNDED PRECEDING) - size AS before FROM (
        SELECT seq, length(records) AS size FROM remembered_keys WHERE seq > ?1
        ORDER BY seq LIMIT ?2))
    WHERE before < ?3)
  ORDER BY seq`;

export function createKeyMemory(database: Database): KeyMemory {
  const index = createKeyIndex();
  const newest = database.query("SELECT max(seq) FROM remembered_keys");
  const pageAfter = database.query(pageText);
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

  function load(): boolean {
    // Asked first, because the page takes as long as a commit even if it is empty.
    if (Number(newest.values()[0]![0]) <= index.seq) return false;
    const rows = pageAfter.values(index.seq, pageCommits, pageBytes);
    for (const row of rows) index.add(toStoredKeys(row));
    return rows.length > 0;
  }

  /** The newest use of a key. Older ones have expired. */
  function findKey(
    key: string,
    epochOf: (seq: number) => string | undefined,
  ): Remembered | undefined {
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
    find(units, epochOf) {
      const found = new Map<string, Remembered>();
      if (!units.some(({ idempotency }) => idempotency)) return found;
      // Usually nothing is left to read. After a commit that failed, its keys may have been stored.
      while (load());
      for (const { idempotency } of units) {
        const remembered = idempotency && findKey(idempotency.key, epochOf);
        if (remembered) found.set(idempotency.key, remembered);
      }
      return found;
    },
    store(appended) {
      const stored = storedKeysOf(appended);
      if (stored) insert.run(stored.seq, stored.at, stored.records);
      return stored;
    },
    committed: (stored) => index.add(stored),
    load,
    prune: (before, commitsMax) => remove.run(before, commitsMax).changes,
    pruned() {
      const [row] = oldest.values();
      index.forget(row ? Number(row[0]) : index.seq);
    },
  };
}
