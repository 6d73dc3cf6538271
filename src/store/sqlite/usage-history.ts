import { prunedMax, type UsageHistoryStore } from "../../domain/usage/usage-history.ts";
import { pointColumns } from "../rows.ts";
import { run, type ScriptsOf } from "../statements.ts";

const add = `INSERT INTO usage_points (${pointColumns}) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (key_id, step, start) DO UPDATE
  SET admitted = admitted + excluded.admitted, refused = refused + excluded.refused`;
const prune = `DELETE FROM usage_points WHERE (key_id, step, start) IN (
    SELECT key_id, step, start FROM usage_points WHERE step = $1 AND start < $2
    ORDER BY start LIMIT ${prunedMax})
  RETURNING 1`;

/** Writes the counts of requests over time. Each is one transaction. */
export const usageHistoryWrites: ScriptsOf<UsageHistoryStore, "addCounts" | "pruneCounts"> = {
  *addCounts(points) {
    for (const { keyId, step, start, admitted, refused } of points) {
      yield* run(add, [keyId, step, start, admitted, refused]);
    }
  },
  *pruneCounts(...values) {
    return (yield* run(prune, values)).length;
  },
};
