import type { Database } from "bun:sqlite";
import type { Key, Secret } from "../../domain/keys.ts";
import type { Ban, SavedUsage } from "../../domain/ports.ts";
import { banColumns, keyColumns, toBan, toKey, toNumber, toUsage, usageColumns } from "../rows.ts";
import { placeholders } from "../tables.ts";

/** Reading keys, usage and bans. */
export function createKeyReader(database: Database) {
  const opened = database.query(
    `SELECT ${keyColumns}, secrets.expires_at AS ends
     FROM secrets JOIN keys ON keys.id = secrets.key_id WHERE secrets.digest = ?`,
  );
  const key = database.query(`SELECT ${keyColumns} FROM keys WHERE id = ?`);
  const keys = database.query(`SELECT ${keyColumns} FROM keys ORDER BY created_at, id`);
  const usage = database.query(`SELECT ${usageColumns} FROM usage`);
  const bans = database.query(
    `SELECT ${banColumns} FROM bans AS ban
     WHERE started_at = (SELECT max(started_at) FROM bans WHERE key_id = ban.key_id)`,
  );
  return {
    findSecret(digest: string): { key: Key; secret: Secret } | undefined {
      const row = opened.values(digest)[0];
      return row && { key: toKey(row), secret: { digest, expiresAt: toNumber(row[9]) } };
    },
    findKey(id: string): Key | undefined {
      const row = key.values(id)[0];
      return row && toKey(row);
    },
    listKeys: (): Key[] => keys.values().map(toKey),
    loadUsage: (): SavedUsage[] => usage.values().map(toUsage),
    loadBans: (): Ban[] => bans.values().map(toBan),
  };
}

/** Changing keys, usage and bans; each call is one transaction. */
export function createKeyWriter(database: Database) {
  const touchKeys = database.query("UPDATE head SET keys_version = keys_version + 1");
  const insertKey = database.query(
    `INSERT INTO keys (id, name, plan, per_minute, per_day, scopes, created_at, expires_at, revoked_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertSecret = database.query(
    "INSERT INTO secrets (digest, key_id, created_at, expires_at) VALUES (?, ?, ?, NULL)",
  );
  const endSecrets = database.query(
    "UPDATE secrets SET expires_at = min(coalesce(expires_at, ?1), ?1) WHERE key_id = ?2",
  );
  const revoke = database.query(
    "UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
  );
  const putUsage = database.query(
    `INSERT INTO usage (${usageColumns}) VALUES (${placeholders(usageColumns)})
     ON CONFLICT (key_id) DO UPDATE SET
       minute_start = excluded.minute_start, minute_count = excluded.minute_count,
       day_start = excluded.day_start, day_count = excluded.day_count,
       last_used_at = excluded.last_used_at`,
  );
  const putBan = database.query(
    `INSERT INTO bans (${banColumns}) VALUES (${placeholders(banColumns)})
     ON CONFLICT (key_id, started_at) DO NOTHING`,
  );
  const endBan = database.query(
    `UPDATE bans SET lifted_at = ?1
     WHERE key_id = ?2 AND until > ?1 AND lifted_at IS NULL
       AND started_at = (SELECT max(started_at) FROM bans WHERE key_id = ?2)`,
  );

  return {
    addKey: transaction((key: Key, digest: string) => {
      insertKey.run(
        key.id,
        key.name,
        key.plan,
        key.limits.perMinute,
        key.limits.perDay,
        key.scopes.join(" "),
        key.createdAt,
        key.expiresAt,
        key.revokedAt,
      );
      insertSecret.run(digest, key.id, key.createdAt);
      touchKeys.run();
    }),
    addSecret: transaction((keyId: string, digest: string, now: number, othersExpireAt: number) => {
      endSecrets.run(othersExpireAt, keyId);
      insertSecret.run(digest, keyId, now);
      touchKeys.run();
    }),
    revokeKey: transaction((keyId: string, now: number) => {
      revoke.run(now, keyId);
      touchKeys.run();
    }),
    saveUsage: transaction((rows: readonly SavedUsage[]) => {
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
    saveBan: transaction((ban: Ban) => {
      putBan.run(ban.keyId, ban.startedAt, ban.until, ban.liftedAt);
    }),
    liftBan: transaction((keyId: string, now: number): boolean => {
      const lifted = endBan.run(now, keyId).changes > 0;
      if (lifted) touchKeys.run();
      return lifted;
    }),
  };

  function transaction<A extends unknown[], T>(work: (...args: A) => T): (...args: A) => T {
    const bound = database.transaction(work);
    return (...args) => bound.immediate(...args) as T;
  }
}
