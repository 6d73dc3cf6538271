import type { Database } from "bun:sqlite";
import { setBackMsMax } from "../../domain/limits/limits.ts";
import type { Ban, SavedUsage } from "../../domain/usage/usage.ts";
import { banColumns, toBan, toUsage, usageColumns } from "../rows.ts";
import { inTransaction } from "./engine/connection.ts";

/** Reads request counts and bans. Every method returns a value, not a promise. */
export function createUsageReader(database: Database) {
  const usage = database.query(`SELECT ${usageColumns} FROM usage`);
  const bans = database.query(
    `SELECT ${banColumns} FROM bans AS ban
     WHERE started_at =
       (SELECT max(started_at) FROM bans WHERE key_id = ban.key_id AND started_at <= ?)`,
  );
  return {
    loadUsage: (): SavedUsage[] => usage.values().map(toUsage),
    loadBans: (now: number): Ban[] => bans.values(now + setBackMsMax).map(toBan),
  };
}

/**
 * Only for keys in the store. The caller of another surface may have none, and the failure of its row
 * would undo those of all keys.
 */
const ifKeyExists = "WHERE EXISTS (SELECT 1 FROM keys WHERE id = ?1)";

/** Writes request counts and bans. Each call is one transaction. */
export function createUsageWriter(database: Database) {
  const putUsage = database.query(
    `INSERT INTO usage (${usageColumns}) SELECT ?1, ?2, ?3, ?4, ?5, ?6 ${ifKeyExists}
     ON CONFLICT (key_id) DO UPDATE SET
       minute_start = excluded.minute_start, minute_count = excluded.minute_count,
       day_start = excluded.day_start, day_count = excluded.day_count,
       last_used_at = excluded.last_used_at`,
  );
  const putBan = database.query(
    `INSERT INTO bans (${banColumns}) SELECT ?1, ?2, ?3, ?4 ${ifKeyExists}
     ON CONFLICT (key_id, started_at) DO NOTHING`,
  );

  return {
    saveUsage: inTransaction(database, (rows: readonly SavedUsage[]) => {
      for (const row of rows) {
        putUsage.run(
          row.keyId,
          row.minuteStart,
          row.minuteCount,
          row.dayStart,
          row.dayCount,
          row.lastUsedAt,
        );
      }
    }),
    saveBan: inTransaction(database, (ban: Ban) => {
      putBan.run(ban.keyId, ban.startedAt, ban.until, ban.liftedAt);
    }),
  };
}
