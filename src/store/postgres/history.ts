import type { HistoryReader } from "../../domain/ledger/store.ts";
import { unavailable } from "../../domain/running/errors.ts";
import { namedRowColumns, toNamedRow, toTip, toVersionedEntry } from "../rows.ts";
import { readTip } from "./engine/head-lock.ts";
import { type PrimaryGuard, timelineNow } from "./engine/primary.ts";
import type { Query, Rows } from "./engine/session.ts";

const entryText = `SELECT $1::int8, quantity, status, version, epoch, ${timelineNow}
  FROM (SELECT) AS one LEFT JOIN petstore_entry($1::int8) ON true`;

const removalText = `SELECT (SELECT version FROM removed_pets WHERE pet_id = $1::int8), ${timelineNow}`;

const tipText = `SELECT tip.*, ${timelineNow} FROM (${readTip}) AS tip`;

/** The last row without a hash of its own has it in the table `chain`. */
export const hasRowText = `SELECT $1::int8 = 0
    OR EXISTS (SELECT FROM ledger WHERE seq = $1::int8 AND hash = decode($2::text, 'hex'))
    OR EXISTS (SELECT FROM chain WHERE from_seq = $1::int8 AND hash = $2::text), ${timelineNow}`;

const seqAtText = `SELECT petstore_seq_at($1::int8), ${timelineNow}`;

const rowsText = withTimeline(
  `SELECT ${namedRowColumns}
   FROM petstore_rows($1::int8, $2::int8, $3::text, $4::text, $5::int8) AS ledger
   LEFT JOIN keys ON keys.id = ledger.key_id ORDER BY ledger.seq`,
);

const ofPetText = withTimeline(
  `SELECT ${namedRowColumns} FROM petstore_pet_rows($1::int8, $2::int8, $3::int8) AS ledger
   LEFT JOIN keys ON keys.id = ledger.key_id ORDER BY ledger.seq DESC`,
);

const petBeforeText = `SELECT petstore_pet_row_before($1::int8, $2::int8, $3::int8, $4::int8),
  ${timelineNow}`;

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
      guard.confirm(Number(row![5]));
      return row![1] === null ? undefined : toVersionedEntry(row!);
    },
    async findRemoval(petId) {
      const [row] = await quick(removalText, [petId]);
      guard.confirm(Number(row![1]));
      return row![0] === null ? undefined : Number(row![0]);
    },
    async readTip() {
      const [row] = await quick(tipText);
      guard.confirm(Number(row![3]));
      return toTip(row!);
    },
    async hasRow(seq, hash) {
      const [row] = await quick(hasRowText, [seq, hash]);
      guard.confirm(Number(row![1]));
      return row![0] === true;
    },
    async seqAt(time) {
      const [row] = await quick(seqAtText, [time]);
      guard.confirm(Number(row![1]));
      if (row![0] === null) throw unavailable("damaged");
      return Number(row![0]);
    },
    listRows: async ({ after, upTo, cause, keyId }, rowsMax) =>
      (await readPage(rowsText, [after, upTo, cause ?? null, keyId ?? null, rowsMax])).map(
        toNamedRow,
      ),
    petRows: async (petId, fromSeq, rowsMax) =>
      (await readPage(ofPetText, [petId, fromSeq, rowsMax])).map(toNamedRow),
    async petRowBefore(petId, fromSeq, before, stepsMax) {
      const [row] = await long(petBeforeText, [petId, fromSeq, before, stepsMax]);
      guard.confirm(Number(row![1]));
      return Number(row![0]);
    },
  };
}
