import type { Database } from "bun:sqlite";
import type { AuditEntry } from "../../domain/audit/audit.ts";
import type { Key, Secret, SecretTimes } from "../../domain/keys/keys.ts";
import { keyColumns, secretTimesColumns, toKey, toNumber, toSecretTimes } from "../rows.ts";
import { createEntryInserter } from "./audit.ts";
import { inTransaction } from "./engine/connection.ts";

/** Reads keys. Every method returns a value, not a promise. */
export function createKeyReader(database: Database) {
  const opened = database.query(
    `SELECT ${keyColumns}, secrets.expires_at AS ends
     FROM secrets JOIN keys ON keys.id = secrets.key_id WHERE secrets.digest = ?`,
  );
  const key = database.query(`SELECT ${keyColumns} FROM keys WHERE id = ?`);
  const keys = database.query(`SELECT ${keyColumns} FROM keys ORDER BY created_at, id`);
  const secrets = database.query(
    `SELECT ${secretTimesColumns} FROM secrets ORDER BY key_id, created_at, digest`,
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
    listSecrets: (): SecretTimes[] => secrets.values().map(toSecretTimes),
  };
}

/** Increments the version by which services detect changes to keys and bans. */
export const touchKeys = "UPDATE head SET keys_version = keys_version + 1";

/** The values of a key that operators can change. */
function termsOf({ name, plan, limits: { perMinute, perDay }, scopes, expiresAt }: Key) {
  return [name, plan, perMinute, perDay, scopes.join(" "), expiresAt] as const;
}

/** Writes keys. Each call is one transaction. */
export function createKeyWriter(database: Database) {
  const touch = database.query(touchKeys);
  const note = createEntryInserter(database);
  const insertKey = database.query(
    `INSERT INTO keys (id, name, plan, per_minute, per_day, scopes, expires_at, created_at, revoked_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const updateKey = database.query(
    `UPDATE keys SET name = ?2, plan = ?3, per_minute = ?4, per_day = ?5, scopes = ?6, expires_at = ?7
     WHERE id = ?1 AND revoked_at IS NULL AND name = ?8 AND plan = ?9 AND per_minute = ?10
       AND per_day = ?11 AND scopes = ?12 AND expires_at IS ?13`,
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

  return {
    addKey: inTransaction(database, (key: Key, digest: string, entry: AuditEntry) => {
      insertKey.run(key.id, ...termsOf(key), key.createdAt, key.revokedAt);
      insertSecret.run(digest, key.id, key.createdAt);
      note(entry);
      touch.run();
    }),
    changeKey: inTransaction(database, (before: Key, after: Key, entry: AuditEntry): boolean => {
      if (updateKey.run(after.id, ...termsOf(after), ...termsOf(before)).changes === 0)
        return false;
      note(entry);
      touch.run();
      return true;
    }),
    addSecret: inTransaction(
      database,
      (keyId: string, digest: string, now: number, othersExpireAt: number, entry: AuditEntry) => {
        endSecrets.run(othersExpireAt, keyId);
        insertSecret.run(digest, keyId, now);
        note(entry);
        touch.run();
      },
    ),
    revokeKey: inTransaction(database, (keyId: string, now: number, entry: AuditEntry) => {
      if (revoke.run(now, keyId).changes === 0) return;
      note(entry);
      touch.run();
    }),
  };
}
