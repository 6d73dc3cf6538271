import {
  mergeCounts,
  type SpanCounts,
  type UsageHistoryStore,
} from "../../domain/usage/usage-history.ts";
import { type Row, spanColumns, toSpanCounts } from "../rows.ts";
import { bytesArray, integerArray, textArray } from "./engine/arrays.ts";
import type { Query } from "./engine/session.ts";

const readText = `SELECT ${spanColumns} FROM usage_history
  WHERE key_id = $1 AND span = $2 AND start >= $3::int8 ORDER BY start`;

const storedText = `SELECT ${spanColumns} FROM usage_history
  JOIN unnest($1::text[], $2::text[], $3::int8[]) AS wanted(key_id, span, start)
    USING (key_id, span, start)`;

/**
 * Writes each row only if its counts are still those that were read, and returns the rows that were
 * written. Another instance may add to the same row. The commit does not wait for the disk, because a
 * crash may lose the last counts anyway.
 */
const replaceText = `
  WITH wanted AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::int8[], $4::bytea[], $5::bytea[])
      AS row(key_id, span, start, before, after)
    ORDER BY key_id, span, start),
  added AS (
    INSERT INTO usage_history (${spanColumns})
    SELECT key_id, span, start, after FROM wanted WHERE before IS NULL
    ON CONFLICT DO NOTHING RETURNING key_id, span, start),
  changed AS (
    UPDATE usage_history AS stored SET counts = after FROM wanted
    WHERE stored.key_id = wanted.key_id AND stored.span = wanted.span
      AND stored.start = wanted.start AND stored.counts = before
    RETURNING stored.key_id, stored.span, stored.start)
  SELECT written.*, set_config('synchronous_commit', 'off', true)
  FROM (SELECT * FROM added UNION ALL SELECT * FROM changed) AS written`;

const pruneText = `DELETE FROM usage_history
  WHERE (span = 'hour' AND start < $1::int8) OR (span = 'month' AND start < $2::int8)`;

/** Reads and writes the counts of requests over time. */
export function createUsageHistory(query: Query): UsageHistoryStore {
  async function storedCounts(rows: readonly SpanCounts[]): Promise<Map<string, Uint8Array>> {
    const found = await query(storedText, namesOf(rows));
    return new Map(found.map((row) => [nameOf(row), row[3] as Uint8Array]));
  }

  return {
    readCounts: async (keyId, span, from) =>
      (await query(readText, [keyId, span, from])).map(toSpanCounts),
    /** Tries again with the rows that another instance has written in between. */
    async addCounts(rows) {
      for (let open = rows; open.length > 0; ) {
        const stored = await storedCounts(open);
        const before = open.map((row) => stored.get(nameOf(toNames(row))));
        const after = open.map(({ span, counts }, at) => mergeCounts(before[at], span, counts));
        const written = await query(replaceText, [
          ...namesOf(open),
          bytesArray(before.map((bytes) => bytes?.toHex() ?? null)),
          bytesArray(after.map((bytes) => bytes.toHex())),
        ]);
        const names = new Set(written.map(nameOf));
        open = open.filter((row) => !names.has(nameOf(toNames(row))));
      }
    },
    async pruneCounts(hoursBefore, monthsBefore) {
      await query(pruneText, [hoursBefore, monthsBefore]);
    },
  };
}

function toNames({ keyId, span, start }: SpanCounts): Row {
  return [keyId, span, start];
}

/** The key of a row. No part of it contains a space. */
function nameOf(row: Row): string {
  return row.slice(0, 3).join(" ");
}

function namesOf(rows: readonly SpanCounts[]): string[] {
  return [
    textArray(rows.map(({ keyId }) => keyId)),
    textArray(rows.map(({ span }) => span)),
    integerArray(rows.map(({ start }) => start)),
  ];
}
