import type { UsageStore } from "../domain/usage/usage.ts";
import type { UsageHistoryStore } from "../domain/usage/usage-history.ts";
import { announce } from "./audit.ts";
import { pointColumns, toUsagePoint } from "./rows.ts";
import { type Dialect, ifChanged, readAll, run, type ScriptsOf } from "./statements.ts";

export const usageHistoryReads: ScriptsOf<UsageHistoryStore, "readCounts"> = {
  readCounts: (...values) =>
    readAll(
      toUsagePoint,
      `SELECT ${pointColumns} FROM usage_points
       WHERE key_id = $1 AND step = $2 AND start >= $3::int8 ORDER BY start`,
      values,
    ),
};

const endBans = `UPDATE bans SET lifted_at = $2::int8
  WHERE key_id = $1 AND until > $2::int8 AND lifted_at IS NULL RETURNING key_id`;

/** One transaction. */
export const banWrites = (dialect: Dialect): ScriptsOf<UsageStore, "liftBan"> => ({
  liftBan: (keyId, now, entry) => ifChanged(run(endBans, [keyId, now]), announce(dialect, entry)),
});
