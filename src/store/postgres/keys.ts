import type { Ban, KeyStore, SavedUsage, UsageJournal } from "../../domain/ports.ts";
import { banColumns, keyColumns, toBan, toKey, toNumber, toUsage, usageColumns } from "../rows.ts";
import type { Ask } from "./catalogue.ts";
import { integerArray, textArray } from "./engine/arrays.ts";
import { waitForDisk } from "./engine/transaction.ts";

export const touchKeys = `UPDATE store SET keys_version = keys_version + 1 WHERE id = 1
  RETURNING ${waitForDisk}`;

const findSecret = `SELECT ${keyColumns}, secrets.expires_at
  FROM secrets JOIN keys ON keys.id = secrets.key_id WHERE secrets.digest = $1`;

const addKey = `
  WITH added AS (INSERT INTO keys (id, name, plan, per_minute, per_day, scopes, created_at,
                                   expires_at, revoked_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)),
       opened AS (INSERT INTO secrets (digest, key_id, created_at) VALUES ($10, $1, $7))
  ${touchKeys}`;

const addSecret = `
  WITH ended AS (UPDATE secrets SET expires_at = least(expires_at, $4::int8) WHERE key_id = $1),
       opened AS (INSERT INTO secrets (digest, key_id, created_at) VALUES ($2, $1, $3))
  ${touchKeys}`;

const revokeKey = `
  WITH ended AS (UPDATE keys SET revoked_at = $2::int8 WHERE id = $1 AND revoked_at IS NULL)
  ${touchKeys}`;

/** Replaces the row: the generation it has now is not known here. */
const saveUsage = `
  WITH gone AS (DELETE FROM counts WHERE key_id = ANY($1::text[]) RETURNING key_id, generation)
  INSERT INTO counts (${usageColumns}, generation, changes)
  SELECT saved.*, coalesce(gone.generation + 1, 0), coalesce(gone.generation + 1, 0) * 64
  FROM unnest($1::text[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[])
    AS saved(${usageColumns}) LEFT JOIN gone USING (key_id)`;

/** The ban in force stands apart from past ones, where the limiter sees it for free. */
const saveBan = `
  WITH noted AS (INSERT INTO bans (${banColumns})
                 VALUES ($1, $2::int8, $3::int8, $4::int8) ON CONFLICT DO NOTHING)
  INSERT INTO standings (key_id, ban_started_at, banned_until)
  SELECT $1, $2::int8, $3::int8 WHERE $4::int8 IS NULL
  ON CONFLICT (key_id) DO UPDATE
    SET ban_started_at = excluded.ban_started_at, banned_until = excluded.banned_until
    WHERE standings.ban_started_at < excluded.ban_started_at`;

const loadBans = `SELECT DISTINCT ON (key_id) ${banColumns} FROM bans ORDER BY key_id, started_at DESC`;

const liftBan = `
  WITH lifted AS (
    UPDATE bans SET lifted_at = $2::int8
    WHERE key_id = $1 AND until > $2::int8 AND lifted_at IS NULL
      AND started_at = (SELECT max(started_at) FROM bans WHERE key_id = $1)
    RETURNING key_id),
  forgiven AS (
    UPDATE standings SET strikes = 0, ban_started_at = 0, banned_until = 0
    FROM lifted WHERE standings.key_id = lifted.key_id)
  UPDATE store SET keys_version = keys_version + 1 FROM lifted WHERE store.id = 1
  RETURNING ${waitForDisk}`;

/** Keys, usage and bans; each call is one statement and therefore one transaction. */
export function createKeeper(
  quick: Ask,
  long: Ask,
  onKeysChanged: () => void,
): KeyStore & UsageJournal {
  async function change(text: string, values: readonly unknown[]) {
    const rows = await long(text, values);
    onKeysChanged();
    return rows;
  }

  return {
    async findSecret(digest) {
      const [row] = await quick(findSecret, [digest]);
      return row && { key: toKey(row), secret: { digest, expiresAt: toNumber(row[9]) } };
    },
    async findKey(id) {
      const [row] = await long(`SELECT ${keyColumns} FROM keys WHERE id = $1`, [id]);
      return row && toKey(row);
    },
    async listKeys() {
      const text = `SELECT ${keyColumns} FROM keys ORDER BY created_at, id`;
      return (await long(text)).map(toKey);
    },
    async addKey(key, digest) {
      const { perMinute, perDay } = key.limits;
      const terms = [key.plan, perMinute, perDay, key.scopes.join(" ")];
      const times = [key.createdAt, key.expiresAt, key.revokedAt];
      await change(addKey, [key.id, key.name, ...terms, ...times, digest]);
    },
    async addSecret(keyId, digest, now, othersExpireAt) {
      await change(addSecret, [keyId, digest, now, othersExpireAt]);
    },
    async revokeKey(keyId, now) {
      await change(revokeKey, [keyId, now]);
    },
    async loadUsage() {
      return (await long(`SELECT ${usageColumns} FROM counts`)).map(toUsage);
    },
    async saveUsage(rows: readonly SavedUsage[]) {
      await long(saveUsage, [
        textArray(rows.map((row) => row.keyId)),
        integerArray(rows.map((row) => row.minuteStart)),
        integerArray(rows.map((row) => row.minuteCount)),
        integerArray(rows.map((row) => row.dayStart)),
        integerArray(rows.map((row) => row.dayCount)),
        integerArray(rows.map((row) => row.lastUsedAt)),
      ]);
    },
    async loadBans() {
      return (await long(loadBans)).map(toBan);
    },
    async saveBan(ban: Ban) {
      await long(saveBan, [ban.keyId, ban.startedAt, ban.until, ban.liftedAt]);
    },
    async liftBan(keyId, now) {
      return (await change(liftBan, [keyId, now])).length > 0;
    },
  };
}
