import { prunedMax, type UsageHistoryStore } from "../../domain/usage/usage-history.ts";
import { pointColumns } from "../rows.ts";
import { usageHistoryReads } from "../usage.ts";
import { scriptsOn } from "./engine/scripts.ts";
import type { Query } from "./engine/session.ts";

/** The commit does not wait for the disk, because a crash may lose the last counts anyway. */
const addText = `
  WITH added AS (
    INSERT INTO usage_points AS stored (${pointColumns})
    SELECT * FROM json_to_recordset($1::text::json)
      AS point("keyId" text, step text, start int8, admitted int8, refused int8)
    ON CONFLICT (key_id, step, start) DO UPDATE
      SET admitted = stored.admitted + excluded.admitted,
          refused = stored.refused + excluded.refused)
  SELECT set_config('synchronous_commit', 'off', true)`;

/** Skips what another instance is removing. */
const pruneText = `
  WITH removed AS (
    DELETE FROM usage_points WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM usage_points WHERE step = $1 AND start < $2::int8
      ORDER BY start LIMIT ${prunedMax} FOR UPDATE SKIP LOCKED))
    RETURNING 1)
  SELECT count(*) FROM removed`;

/** Reads and writes the counts of requests over time. */
export function createUsageHistory(query: Query): UsageHistoryStore {
  return {
    ...scriptsOn(query, usageHistoryReads),
    async addCounts(points) {
      await query(addText, [JSON.stringify(points)]);
    },
    async pruneCounts(step, before) {
      const [removed] = await query(pruneText, [step, before]);
      return Number(removed![0]);
    },
  };
}
