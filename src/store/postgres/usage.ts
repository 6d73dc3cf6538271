import type { UsageStore } from "../../domain/ports.ts";
import { banColumns, toBan, toUsage, usageColumns } from "../rows.ts";
import { integerArray, textArray } from "./engine/arrays.ts";
import type { Query } from "./engine/session.ts";
import { waitForDisk } from "./engine/transaction.ts";

const loadUsage = `SELECT ${usageColumns} FROM counts`;

/** Replaces the rows, because their current generations are not known here. */
const saveUsage = `
  WITH gone AS (DELETE FROM counts WHERE key_id = ANY($1::text[]) RETURNING key_id, generation)
  INSERT INTO counts (${usageColumns}, generation, changes)
  SELECT saved.*, coalesce(gone.generation + 1, 0), coalesce(gone.generation + 1, 0) * 64
  FROM unnest($1::text[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[])
    AS saved(${usageColumns}) LEFT JOIN gone USING (key_id)`;

const loadBans = `SELECT DISTINCT ON (key_id) ${banColumns} FROM bans ORDER BY key_id, started_at DESC`;

/** A ban in force is also stored in `standings`, which the rate limiter reads anyway. */
const saveBan = `
  WITH noted AS (INSERT INTO bans (${banColumns})
                 VALUES ($1, $2::int8, $3::int8, $4::int8) ON CONFLICT DO NOTHING)
  INSERT INTO standings (key_id, ban_started_at, banned_until)
  SELECT $1, $2::int8, $3::int8 WHERE $4::int8 IS NULL
  ON CONFLICT (key_id) DO UPDATE
    SET ban_started_at = excluded.ban_started_at, banned_until = excluded.banned_until
    WHERE standings.ban_started_at < excluded.ban_started_at`;

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

/** Reads and writes request counts and bans. Each call is one statement. */
export function createUsage(query: Query): UsageStore {
  return {
    loadUsage: async () => (await query(loadUsage)).map(toUsage),
    async saveUsage(rows) {
      await query(saveUsage, [
        textArray(rows.map((row) => row.keyId)),
        integerArray(rows.map((row) => row.minuteStart)),
        integerArray(rows.map((row) => row.minuteCount)),
        integerArray(rows.map((row) => row.dayStart)),
        integerArray(rows.map((row) => row.dayCount)),
        integerArray(rows.map((row) => row.lastUsedAt)),
      ]);
    },
    loadBans: async () => (await query(loadBans)).map(toBan),
    async saveBan(ban) {
      await query(saveBan, [ban.keyId, ban.startedAt, ban.until, ban.liftedAt]);
    },
    liftBan: async (keyId, now) => (await query(liftBan, [keyId, now])).length > 0,
  };
}
