import type { Database } from "bun:sqlite";
import type { HistoryReader } from "../../domain/ledger/store.ts";
import { unavailable } from "../../domain/running/errors.ts";
import {
  entryColumns,
  namedRowColumns,
  tipColumns,
  toNamedRow,
  toTip,
  toVersionedEntry,
} from "../rows.ts";

/**
 * The `seq` of the last row at or before ?1, by binary search: rows are numbered without gaps. Nothing
 * if a row that the search needs is missing.
 */
const searchTime = `
  WITH RECURSIVE search(low, high) AS (
    SELECT 0, seq FROM head
    UNION ALL
    SELECT CASE WHEN at <= ?1 THEN ledger.seq ELSE low END,
           CASE WHEN at <= ?1 THEN high ELSE ledger.seq - 1 END
    FROM search JOIN ledger ON ledger.seq = (low + high + 1) / 2 WHERE low < high)
  SELECT low FROM search WHERE low = high`;

/** Follows `previous` from row ?2 of pet ?1. */
const followPet = (columns: string, condition: string) => `
  WITH RECURSIVE pet_rows(seq, previous, step) AS (
    SELECT seq, previous, 1 FROM ledger WHERE seq = ?2 AND pet_id = ?1
    UNION ALL
    SELECT ledger.seq, ledger.previous, step + 1
    FROM pet_rows JOIN ledger ON ledger.seq = pet_rows.previous WHERE ${condition})
  SELECT ${columns}`;

/** Reads the ledger for clients and operators. */
export function createHistoryReader(database: Database): HistoryReader {
  const entry = database.query(
    `SELECT ${entryColumns},
       (SELECT epoch FROM epochs WHERE from_seq < version ORDER BY number DESC LIMIT 1)
     FROM inventory WHERE pet_id = ?`,
  );
  const removal = database.query("SELECT version FROM removed_pets WHERE pet_id = ?");
  const tip = database.query(`SELECT ${tipColumns} FROM head`);
  const withHash = database.query(
    "SELECT ?1 = 0 OR EXISTS (SELECT 1 FROM ledger WHERE seq = ?1 AND hash = ?2)",
  );
  const atTime = database.query(searchTime);
  const rows = database.query(
    `SELECT ${namedRowColumns} FROM ledger LEFT JOIN keys ON keys.id = ledger.key_id
     WHERE ledger.seq > ?1 AND ledger.seq <= ?2 AND (?3 IS NULL OR cause = ?3)
       AND (?4 IS NULL OR key_id = ?4) AND (?5 IS NULL OR request_id = ?5)
     ORDER BY ledger.seq LIMIT ?6`,
  );
  const ofPet = database.query(
    `${followPet(namedRowColumns, "step < ?3")} FROM pet_rows JOIN ledger USING (seq)
     LEFT JOIN keys ON keys.id = ledger.key_id ORDER BY step`,
  );
  const petBefore = database.query(
    `${followPet("seq, previous", "pet_rows.seq >= ?3 AND step <= ?4")} FROM pet_rows
     ORDER BY step DESC LIMIT 1`,
  );

  return {
    findEntry(petId) {
      const row = entry.values(petId)[0];
      return row && toVersionedEntry(row);
    },
    findRemoval(petId) {
      const row = removal.values(petId)[0];
      return row && Number(row[0]);
    },
    readTip: () => toTip(tip.values()[0]!),
    hasRow: (seq, hash) => withHash.values(seq, Buffer.from(hash, "hex"))[0]![0] === 1n,
    seqAt(time) {
      const row = atTime.values(time)[0];
      if (!row) throw unavailable("damaged");
      return Number(row[0]);
    },
    listRows: ({ after, upTo, cause, keyId, requestId }, rowsMax) =>
      rows
        .values(after, upTo, cause ?? null, keyId ?? null, requestId ?? null, rowsMax)
        .map(toNamedRow),
    petRows: (petId, fromSeq, rowsMax) => ofPet.values(petId, fromSeq, rowsMax).map(toNamedRow),
    petRowBefore(petId, fromSeq, before, stepsMax) {
      const row = petBefore.values(petId, fromSeq, before, stepsMax)[0];
      if (!row) return 0;
      const [seq, previous] = [Number(row[0]), row[1]];
      return seq >= before && previous === null ? 0 : seq;
    },
  };
}
