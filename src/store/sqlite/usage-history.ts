import type { Database } from "bun:sqlite";
import { mergeCounts, type Span, type SpanCounts } from "../../domain/usage/usage-history.ts";
import { spanColumns, toSpanCounts } from "../rows.ts";
import { inTransaction } from "./engine/connection.ts";

/** Reads the counts of requests over time. */
export function createUsageHistoryReader(database: Database) {
  const rows = database.query(
    `SELECT ${spanColumns} FROM usage_history WHERE key_id = ? AND span = ? AND start >= ?
     ORDER BY start`,
  );
  return {
    readCounts: (keyId: string, span: Span, from: number): SpanCounts[] =>
      rows.values(keyId, span, from).map(toSpanCounts),
  };
}

/** Writes the counts of requests over time. Each call is one transaction. */
export function createUsageHistoryWriter(database: Database) {
  const stored = database.query(
    "SELECT counts FROM usage_history WHERE key_id = ? AND span = ? AND start = ?",
  );
  const put = database.query(
    `INSERT INTO usage_history (${spanColumns}) VALUES (?, ?, ?, ?)
     ON CONFLICT (key_id, span, start) DO UPDATE SET counts = excluded.counts`,
  );
  const remove = database.query("DELETE FROM usage_history WHERE span = ? AND start < ?");
  return {
    addCounts: inTransaction(database, (rows: readonly SpanCounts[]) => {
      for (const { keyId, span, start, counts } of rows) {
        const before = stored.values(keyId, span, start)[0]?.[0] as Uint8Array | undefined;
        put.run(keyId, span, start, mergeCounts(before, span, counts));
      }
    }),
    pruneCounts: inTransaction(database, (hoursBefore: number, monthsBefore: number) => {
      remove.run("hour", hoursBefore);
      remove.run("month", monthsBefore);
    }),
  };
}
