import { unavailable } from "../../domain/errors.ts";
import type { HistoryReader } from "../../domain/ports.ts";
import { ledgerColumns, namedRowColumns, toNamedRow, toTip, toVersionedEntry } from "../rows.ts";
import { readTip } from "./engine/head-lock.ts";
import { type PrimaryGuard, timelineNow } from "./engine/primary.ts";
import type { Query, Rows } from "./engine/session.ts";

const entryText = `SELECT $1::int8, quantity, status, version, epoch, ${timelineNow}
  FROM petstore_entry($1::int8)`;

const tipText = `SELECT tip.*, ${timelineNow} FROM (${readTip}) AS tip`;

/**
 * The row with a given number. The planner uses the primary key for this form, whatever it knows of
 * the size of the ledger. A prepared plan outlives that knowledge: one that was made for a join with
 * a small ledger would read the whole ledger for every row.
 */
const rowAt = (columns: string, seq: string) =>
  `(SELECT ${columns} FROM ledger WHERE ledger.seq >= ${seq} ORDER BY ledger.seq LIMIT 1)`;

/**
 * The `seq` of the last row at or before $1, by binary search: rows are numbered without gaps. Nothing
 * if the ledger lacks its last rows.
 */
const searchText = `
  WITH RECURSIVE search(low, high) AS (
    SELECT 0::int8, seq FROM (${readTip}) AS tip
    UNION ALL
    SELECT CASE WHEN at <= $1::int8 THEN middle ELSE low END,
           CASE WHEN at <= $1::int8 THEN high ELSE middle - 1 END
    FROM search CROSS JOIN LATERAL (SELECT (low + high + 1) / 2 AS middle) AS between_them
      CROSS JOIN LATERAL ${rowAt("at", "middle")} AS middle_row
    WHERE low < high)
  SELECT low, ${timelineNow} FROM search WHERE low = high`;

const rowsText = withTimeline(
  `SELECT ${namedRowColumns} FROM ledger LEFT JOIN keys ON keys.id = ledger.key_id
   WHERE ledger.seq > $1::int8 AND ledger.seq <= $2::int8
     AND ($3::text IS NULL OR cause = $3::text) AND ($4::text IS NULL OR key_id = $4::text)
   ORDER BY ledger.seq LIMIT $5`,
);

/** Follows `previous` from row $2 of pet $1. */
const followPet = (columns: string, condition: string) => `
  WITH RECURSIVE pet_rows AS (
    SELECT first_row.*, 1 AS step FROM ${rowAt(columns, "$2::int8")} AS first_row
    WHERE seq = $2::int8 AND pet_id = $1::int8
    UNION ALL
    SELECT previous_row.*, step + 1
    FROM pet_rows CROSS JOIN LATERAL ${rowAt(columns, "pet_rows.previous")} AS previous_row
    WHERE previous_row.seq = pet_rows.previous AND ${condition})`;

const ofPetText = withTimeline(
  `${followPet(ledgerColumns, "step < $3")}
   SELECT ${namedRowColumns} FROM pet_rows AS ledger LEFT JOIN keys ON keys.id = ledger.key_id
   ORDER BY step`,
);

const petBeforeText = `${followPet(
  "seq, pet_id, previous",
  "pet_rows.seq >= $3::int8 AND step <= $4",
)} SELECT seq, previous, ${timelineNow} FROM pet_rows ORDER BY step DESC LIMIT 1`;

/** Adds a row without `seq` that has the timeline of the server, also to an empty page. */
function withTimeline(page: string): string {
  const rest = namedRowColumns.split(",").slice(2).fill("NULL").join();
  return `(${page}) UNION ALL SELECT NULL, ${timelineNow}, ${rest}`;
}

/** Requests wait for `quick`; `long` reads pages of many rows. */
export function createHistoryReader(guard: PrimaryGuard, quick: Query, long: Query): HistoryReader {
  /** Reads a page made by `withTimeline` and checks which server sent it. */
  async function readPage(text: string, values: readonly unknown[]): Promise<Rows> {
    const rows = await long(text, values);
    const timelineAt = rows.findLastIndex((row) => row[0] === null);
    guard.confirm(Number(rows[timelineAt]![1]));
    return rows.toSpliced(timelineAt, 1);
  }

  return {
    async findEntry(petId) {
      const [row] = await quick(entryText, [petId]);
      if (!row) return undefined;
      guard.confirm(Number(row[5]));
      return toVersionedEntry(row);
    },
    async readTip() {
      const [row] = await quick(tipText);
      guard.confirm(Number(row![3]));
      return toTip(row!);
    },
    async seqAt(time) {
      const [row] = await quick(searchText, [time]);
      if (!row) throw unavailable("damaged");
      guard.confirm(Number(row[1]));
      return Number(row[0]);
    },
    listRows: async ({ after, upTo, cause, keyId }, rowsMax) =>
      (await readPage(rowsText, [after, upTo, cause ?? null, keyId ?? null, rowsMax])).map(
        toNamedRow,
      ),
    petRows: async (petId, fromSeq, rowsMax) =>
      (await readPage(ofPetText, [petId, fromSeq, rowsMax])).map(toNamedRow),
    async petRowBefore(petId, fromSeq, before, stepsMax) {
      const [row] = await long(petBeforeText, [petId, fromSeq, before, stepsMax]);
      if (!row) return 0;
      guard.confirm(Number(row[2]));
      const [seq, previous] = [Number(row[0]), row[1]];
      return seq >= before && previous === null ? 0 : seq;
    },
  };
}
