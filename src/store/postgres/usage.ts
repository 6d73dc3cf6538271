import type { Usage } from "../../domain/limits.ts";
import type { Clock, SharedUsageStore } from "../../domain/ports.ts";
import type { CountedUsage, UsageStore } from "../../domain/usage.ts";
import { auditValues } from "../audit-rows.ts";
import { banColumns, type Row, toBan, toUsage, usageColumns } from "../rows.ts";
import { addingEntry } from "./audit.ts";
import { integerArray, textArray } from "./engine/arrays.ts";
import { nowMs } from "./engine/clock.ts";
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
    FROM lifted WHERE standings.key_id = lifted.key_id),
  ${addingEntry(3, "lifted")}
  UPDATE store SET keys_version = keys_version + 1 FROM lifted WHERE store.id = 1
  RETURNING ${waitForDisk}`;

/** Reads and writes request counts and bans. Each call is one statement. */
export function createUsage(query: Query, patient: Query): UsageStore {
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
    liftBan: async (keyId, now, entry) =>
      (await patient(liftBan, [keyId, now, ...auditValues(entry)])).length > 0,
  };
}

/**
 * Counts as many requests as are wanted, or as many as are left: $1 time or null, $2 keys, $3 wanted,
 * $4 per minute, $5 per day. The function is part of the schema.
 */
const takeText =
  "SELECT * FROM petstore_take($1::int8, $2::text[], $3::int8[], $4::int8[], $5::int8[])";

/** The function is part of the schema. */
const giveBackText =
  "SELECT petstore_give_back($1::text[], $2::int8[], $3::int8[], $4::int8[], $5::int8[])";

/**
 * Adds strikes to those that other instances counted: $1 time or null, $2 keys, $3 minutes, $4
 * strikes. Rows are locked in the order of their keys, so that instances cannot deadlock.
 */
const addStrikesText = `
  WITH moment AS (
    SELECT set_config('synchronous_commit', 'off', true) AS relaxed, ${nowMs} AS ms),
  added AS (
    INSERT INTO standings (key_id, strikes_minute, strikes)
    SELECT struck.key_id, struck.minute, struck.count
    FROM moment, unnest($2::text[], $3::int8[], $4::int8[]) AS struck(key_id, minute, count)
    WHERE relaxed = 'off'
    ORDER BY struck.key_id
    ON CONFLICT (key_id) DO UPDATE SET
      strikes = CASE WHEN standings.strikes_minute > excluded.strikes_minute THEN standings.strikes
                     WHEN standings.strikes_minute = excluded.strikes_minute
                     THEN standings.strikes + excluded.strikes
                     ELSE excluded.strikes END,
      strikes_minute = greatest(standings.strikes_minute, excluded.strikes_minute)
    RETURNING *)
  SELECT added.key_id, coalesce(minute_start, 0), coalesce(minute_count, 0),
         coalesce(minute_refused_at, 0), coalesce(day_start, 0), coalesce(day_count, 0),
         coalesce(day_refused_at, 0), coalesce(last_used_at, 0),
         strikes_minute, strikes, ban_started_at, banned_until, ms
  FROM moment, added LEFT JOIN LATERAL (
    SELECT * FROM counts WHERE counts.key_id = added.key_id ORDER BY generation DESC LIMIT 1
  ) AS used ON true`;

/** Starts a ban, unless another instance started one after the ban at $4. */
const startBanText = `
  WITH begun AS (
    UPDATE standings SET ban_started_at = $2::int8, banned_until = $3::int8, strikes = 0
    WHERE key_id = $1 AND ban_started_at = $4::int8 RETURNING key_id)
  INSERT INTO bans (key_id, started_at, until)
  SELECT key_id, $2::int8, $3::int8 FROM begun ON CONFLICT DO NOTHING RETURNING key_id`;

/**
 * Counts requests for the shared rate limiter. Each statement is its own transaction, so no instance
 * holds a lock over a round trip. Its commit does not wait for the disk: a crash may lose the last
 * half second of counts. `clock` replaces the database's clock.
 */
export function createSharedUsage(query: Query, clock?: Clock): SharedUsageStore {
  const now = () => clock?.now() ?? null;

  return {
    clock,
    /** Repeats the query for keys without a result: the database may have to insert a row first. */
    async take(requests) {
      const found = new Map<string, CountedUsage>();
      for (let open = requests; open.length > 0; ) {
        const rows = await query(takeText, [
          now(),
          textArray(open.map(({ keyId }) => keyId)),
          integerArray(open.map(({ wanted }) => wanted)),
          integerArray(open.map(({ limits }) => limits.perMinute)),
          integerArray(open.map(({ limits }) => limits.perDay)),
        ]);
        for (const row of rows) found.set(row[0] as string, toCountedUsage(row));
        open = open.filter(({ keyId }) => !found.has(keyId));
      }
      return found;
    },
    async giveBack(returned) {
      await query(giveBackText, [
        textArray(returned.map(({ keyId }) => keyId)),
        integerArray(returned.map(({ minuteStart }) => minuteStart)),
        integerArray(returned.map(({ minuteCount }) => minuteCount)),
        integerArray(returned.map(({ dayStart }) => dayStart)),
        integerArray(returned.map(({ dayCount }) => dayCount)),
      ]);
    },
    async addStrikes(strikes) {
      const rows = await query(addStrikesText, [
        now(),
        textArray(strikes.map(({ keyId }) => keyId)),
        integerArray(strikes.map(({ minute }) => minute)),
        integerArray(strikes.map(({ count }) => count)),
      ]);
      return new Map(rows.map((row) => [row[0] as string, toCountedUsage(row)]));
    },
    async startBan(keyId, startedAt, until, previousStart) {
      return (await query(startBanText, [keyId, startedAt, until, previousStart])).length > 0;
    },
  };
}

function toCountedUsage(row: Row): CountedUsage {
  const numbers = row.slice(1).map(Number);
  const usage: Usage = {
    minuteStart: numbers[0]!,
    minuteCount: numbers[1]!,
    minuteExceededAt: numbers[2]!,
    dayStart: numbers[3]!,
    dayCount: numbers[4]!,
    dayExceededAt: numbers[5]!,
    lastUsedAt: numbers[6]!,
    strikesMinute: numbers[7]!,
    strikes: numbers[8]!,
    banStartedAt: numbers[9]!,
    bannedUntil: numbers[10]!,
  };
  return { usage, now: numbers[11]!, granted: numbers[12] ?? 0 };
}
