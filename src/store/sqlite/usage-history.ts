import type { Database } from "bun:sqlite";
import { prunedMax, type Step, type UsagePoint } from "../../domain/usage/usage-history.ts";
import { pointColumns } from "../rows.ts";
import { inTransaction } from "./engine/connection.ts";

/** Writes the counts of requests over time. Each call is one transaction. */
export function createUsageHistoryWriter(database: Database) {
  const add = database.query(
    `INSERT INTO usage_points (${pointColumns}) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (key_id, step, start) DO UPDATE
     SET admitted = admitted + excluded.admitted, refused = refused + excluded.refused`,
  );
  const remove = database.query(
    `DELETE FROM usage_points WHERE (key_id, step, start) IN (
       SELECT key_id, step, start FROM usage_points WHERE step = ? AND start < ?
       ORDER BY start LIMIT ${prunedMax})`,
  );
  return {
    addCounts: inTransaction(database, (points: readonly UsagePoint[]) => {
      for (const { keyId, step, start, admitted, refused } of points) {
        add.run(keyId, step, start, admitted, refused);
      }
    }),
    pruneCounts: (step: Step, before: number): number => remove.run(step, before).changes,
  };
}
