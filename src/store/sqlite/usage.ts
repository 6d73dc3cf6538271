import { setBackMsMax } from "../../domain/limits/limits.ts";
import type { Ban, UsageStore } from "../../domain/usage/usage.ts";
import { banColumns, toBan, toUsage, usageColumns } from "../rows.ts";
import { readAll, run, type Script, type ScriptsOf } from "../statements.ts";

export const usageReads: ScriptsOf<UsageStore, "loadUsage"> = {
  loadUsage: () => readAll(toUsage, `SELECT ${usageColumns} FROM usage`),
};

export const banReads = {
  loadBans: (now: number): Script<Ban[]> =>
    readAll(
      toBan,
      `SELECT ${banColumns} FROM bans AS ban WHERE started_at =
         (SELECT max(started_at) FROM bans WHERE key_id = ban.key_id AND started_at <= $1)`,
      [now + setBackMsMax],
    ),
};

/**
 * Only for keys in the store. The caller of another surface may have none, and the failure of its row
 * would undo those of all keys.
 */
const ifKeyExists = "WHERE EXISTS (SELECT 1 FROM keys WHERE id = $1)";

const putUsage = `INSERT INTO usage (${usageColumns}) SELECT $1, $2, $3, $4, $5, $6 ${ifKeyExists}
  ON CONFLICT (key_id) DO UPDATE SET
    minute_start = excluded.minute_start, minute_count = excluded.minute_count,
    day_start = excluded.day_start, day_count = excluded.day_count,
    last_used_at = excluded.last_used_at`;
const putBan = `INSERT INTO bans (${banColumns}) SELECT $1, $2, $3, $4 ${ifKeyExists}
  ON CONFLICT (key_id, started_at) DO NOTHING`;

/** Writes request counts and bans. Each is one transaction. */
export const usageWrites: ScriptsOf<UsageStore, "saveUsage" | "saveBan"> = {
  *saveUsage(rows) {
    for (const { keyId, minuteStart, minuteCount, dayStart, dayCount, lastUsedAt } of rows) {
      const values = [keyId, minuteStart, minuteCount, dayStart, dayCount, lastUsedAt];
      yield* run(putUsage, values);
    }
  },
  *saveBan({ keyId, startedAt, until, liftedAt }) {
    yield* run(putBan, [keyId, startedAt, until, liftedAt]);
  },
};
