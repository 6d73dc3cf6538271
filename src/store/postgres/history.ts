import type { HistoryReader } from "../../domain/ledger/store.ts";
import { unavailable } from "../../domain/running/errors.ts";
import { namedRowColumns, toNamedRow, toTip, toVersionedEntry } from "../rows.ts";
import { checkedPages, checkedRows, withTimeline } from "./engine/checked-reads.ts";
import { readTip } from "./engine/head-lock.ts";
import { type PrimaryGuard, timelineNow } from "./engine/primary.ts";
import type { Query } from "./engine/session.ts";

const entryText = `SELECT $1::int8, quantity, status, version, epoch, ${timelineNow}
  FROM (SELECT) AS one LEFT JOIN petstore_entry($1::int8) ON true`;

const removalText = `SELECT (SELECT version FROM removed_pets WHERE pet_id = $1::int8), ${timelineNow}`;

const tipText = `SELECT tip.*, ${timelineNow} FROM (${readTip}) AS tip`;

export const hasRowText = `SELECT $1::int8 = 0
    OR EXISTS (SELECT FROM ledger WHERE seq = $1::int8 AND hash = decode($2::text, 'hex')),
  ${timelineNow}`;

const seqAtText = `SELECT petstore_seq_at($1::int8), ${timelineNow}`;

/** The function has no parameter for a request, so it returns all rows of the range for one. */
const rowsText = withTimeline(
  `SELECT ${namedRowColumns}
   FROM petstore_rows($1::int8, $2::int8, $3::text, $4::text,
     CASE WHEN $5::text IS NULL THEN $6::int8 ELSE $2::int8 - $1::int8 END) AS ledger
   LEFT JOIN keys ON keys.id = ledger.key_id
   WHERE $5::text IS NULL OR request_id = $5::text ORDER BY ledger.seq LIMIT $6::int8`,
  namedRowColumns,
);

const ofPetText = withTimeline(
  `SELECT ${namedRowColumns} FROM petstore_pet_rows($1::int8, $2::int8, $3::int8) AS ledger
   LEFT JOIN keys ON keys.id = ledger.key_id ORDER BY ledger.seq DESC`,
  namedRowColumns,
);

const petBeforeText = `SELECT petstore_pet_row_before($1::int8, $2::int8, $3::int8, $4::int8),
  ${timelineNow}`;

/** Requests wait for `quick`; `long` reads pages of many rows. */
export function createHistoryReader(guard: PrimaryGuard, quick: Query, long: Query): HistoryReader {
  const readRows = checkedRows(guard, quick);
  const readPage = checkedPages(guard, long);
  /** The first column of the only row. */
  const readValue: (...statement: Parameters<Query>) => Promise<unknown> = async (...statement) =>
    (await readRows(...statement))[0]![0];

  return {
    async findEntry(petId) {
      const [row] = await quick(entryText, [petId]);
      guard.confirm(Number(row![5]));
      return row![1] === null ? undefined : toVersionedEntry(row!);
    },
    async findRemoval(petId) {
      const version = await readValue(removalText, [petId]);
      return version === null ? undefined : Number(version);
    },
    readTip: async () => toTip((await readRows(tipText))[0]!),
    hasRow: async (seq, hash) => (await readValue(hasRowText, [seq, hash])) === true,
    async seqAt(time) {
      const seq = await readValue(seqAtText, [time]);
      if (seq === null) throw unavailable("damaged");
      return Number(seq);
    },
    async listRows({ after, upTo, cause, keyId, requestId }, rowsMax) {
      const wanted = [cause ?? null, keyId ?? null, requestId ?? null];
      return (await readPage(rowsText, [after, upTo, ...wanted, rowsMax])).map(toNamedRow);
    },
    petRows: async (petId, fromSeq, rowsMax) =>
      (await readPage(ofPetText, [petId, fromSeq, rowsMax])).map(toNamedRow),
    petRowBefore: async (...values) =>
      Number((await checkedRows(guard, long)(petBeforeText, values))[0]![0]),
  };
}
