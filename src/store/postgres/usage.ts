import { isAhead, setBackMsMax, type Usage } from "../../domain/limits/limits.ts";
import type { Clock } from "../../domain/running/clock.ts";
import type { CountedUsage, SharedUsageStore, UsageStore } from "../../domain/usage/usage.ts";
import { dayMs, minuteMs } from "../../domain/values/times.ts";
import { banColumns, type Row, toBan, toUsage, usageColumns } from "../rows.ts";
import { run, type ScriptsOf } from "../statements.ts";
import { banWrites } from "../usage.ts";
import { integerArray, textArray } from "./engine/arrays.ts";
import { nowMs } from "./engine/clock.ts";
import { dialect } from "./engine/scripts.ts";
import type { Query } from "./engine/session.ts";

const loadUsage = `SELECT ${usageColumns} FROM counts`;

/** Replaces the rows, because their current generations are not known here. */
const saveUsage = `
  WITH saved AS (
    SELECT * FROM json_to_recordset($1::text::json) AS one("keyId" text, "minuteStart" int8,
      "minuteCount" int8, "dayStart" int8, "dayCount" int8, "lastUsedAt" int8)),
  gone AS (
    DELETE FROM counts USING saved WHERE key_id = "keyId" RETURNING key_id, generation + 1 AS next)
  INSERT INTO counts (${usageColumns}, generation, changes)
  SELECT saved.*, coalesce(next, 0), coalesce(next, 0) * 64
  FROM saved LEFT JOIN gone ON key_id = "keyId"`;

const loadBans = `
  SELECT DISTINCT ON (key_id) ${banColumns} FROM bans
  WHERE started_at <= ${nowMs} + ${setBackMsMax} ORDER BY key_id, started_at DESC`;

/** A ban in force is also stored in `standings`, which the rate limiter reads anyway. */
const saveBan = `
  WITH noted AS (INSERT INTO bans (${banColumns})
                 VALUES ($1, $2::int8, $3::int8, $4::int8) ON CONFLICT DO NOTHING)
  INSERT INTO standings (key_id, ban_started_at, banned_until)
  SELECT $1, $2::int8, $3::int8 WHERE $4::int8 IS NULL
  ON CONFLICT (key_id) DO UPDATE
    SET ban_started_at = excluded.ban_started_at, banned_until = excluded.banned_until
    WHERE standings.ban_started_at < excluded.ban_started_at`;

/** A lifted ban also ends in `standings`. */
const forgive = `UPDATE standings SET strikes = 0, ban_started_at = 0, banned_until = 0
  WHERE key_id = $1`;

const { liftBan } = banWrites(dialect);

/** One transaction. */
export const liftBans: ScriptsOf<UsageStore, "liftBan"> = {
  *liftBan(keyId, now, entry) {
    const isLifted = yield* liftBan(keyId, now, entry);
    if (isLifted) yield* run(forgive, [keyId]);
    return isLifted;
  },
};

/**
 * Reads and writes request counts and bans. Each call is one statement. `now` replaces the database's
 * time.
 */
export function createUsage(query: Query, now: () => number | null): Omit<UsageStore, "liftBan"> {
  return {
    loadUsage: async () => (await query(loadUsage)).map(toUsage),
    async saveUsage(rows) {
      await query(saveUsage, [JSON.stringify(rows)]);
    },
    loadBans: async () => (await query(loadBans, [now()])).map(toBan),
    async saveBan(ban) {
      await query(saveBan, [ban.keyId, ban.startedAt, ban.until, ban.liftedAt]);
    },
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
 * Adds strikes to those that other instances counted: $1 time or null, $2 strikes as
 * JSON. Rows are locked in the order of their keys, so that instances cannot deadlock.
 */
const addStrikesText = `
  WITH moment AS (
    SELECT set_config('synchronous_commit', 'off', true) AS relaxed, ${nowMs} AS ms),
  added AS (
    INSERT INTO standings (key_id, strikes_minute, strikes)
    SELECT "keyId", minute, count
    FROM moment, json_to_recordset($2::text::json) AS struck("keyId" text, minute int8, count int8)
    WHERE relaxed = 'off'
    ORDER BY "keyId"
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

/**
 * Corrects keys whose windows or ban were started by a clock that was ahead, by the rule of the domain:
 * $1 time or null, $2 keys, $3 requests that were granted in such windows and are returned. Returns the
 * keys that it corrected. A key is not among them if its window only began while another statement
 * waited.
 */
const correctText = `
  WITH moment AS (
    SELECT set_config('synchronous_commit', 'off', true) AS relaxed, ${nowMs} AS ms),
  ahead AS (
    SELECT key, returned, ms, ms + ${setBackMsMax} AS ms_max
    FROM moment, unnest($2::text[], $3::int8[]) AS one(key, returned)
      JOIN counts ON counts.key_id = key LEFT JOIN standings ON standings.key_id = key
    WHERE relaxed = 'off'
      AND greatest(minute_start, strikes_minute, ban_started_at) > ms + ${setBackMsMax}
    ORDER BY key),
  counted AS (
    UPDATE counts SET
      minute_start = least(minute_start, ms - ms % ${minuteMs}),
      minute_count = greatest(0, minute_count - returned), minute_refused_at = 0,
      day_start = least(day_start, ms - ms % ${dayMs}),
      day_count = greatest(0, day_count - returned), day_refused_at = 0,
      last_used_at = least(last_used_at, ms)
    FROM ahead WHERE counts.key_id = ahead.key),
  forgiven AS (
    UPDATE standings SET strikes_minute = 0, strikes = 0,
      ban_started_at = CASE WHEN ban_started_at > ms_max THEN 0 ELSE ban_started_at END,
      banned_until = CASE WHEN ban_started_at > ms_max THEN 0 ELSE banned_until END
    FROM ahead WHERE standings.key_id = ahead.key)
  SELECT key FROM ahead`;

/** Starts a ban, unless another instance started one after the ban at $4. */
const startBanText = `
  WITH begun AS (
    UPDATE standings SET ban_started_at = $2::int8, banned_until = $3::int8, strikes = 0
    WHERE key_id = $1 AND ban_started_at = $4::int8 RETURNING key_id)
  INSERT INTO bans (key_id, started_at, until)
  SELECT key_id, $2::int8, $3::int8 FROM begun ON CONFLICT DO NOTHING RETURNING key_id`;

type KeyUsage = readonly [keyId: string, counted: CountedUsage];

/**
 * Counts requests for the shared rate limiter. Each statement is its own transaction, so no instance
 * holds a lock over a round trip. Its commit does not wait for the disk: a crash may lose the last
 * half second of counts. `clock` replaces the database's clock.
 */
export function createSharedUsage(query: Query, clock?: Clock): SharedUsageStore {
  const now = () => clock?.now() ?? null;

  /** The results of keys that did not have to be corrected. The others must be asked for again. */
  async function withoutCorrected(counted: readonly KeyUsage[]): Promise<readonly KeyUsage[]> {
    const ahead = counted.filter(([, { usage, now }]) => isAhead(usage, now));
    if (ahead.length === 0) return counted;
    const keys = textArray(ahead.map(([keyId]) => keyId));
    const granted = integerArray(ahead.map(([, one]) => one.granted));
    const rows = await query(correctText, [now(), keys, granted]);
    const corrected = new Set(rows.map(([keyId]) => keyId as string));
    return counted
      .filter(([keyId]) => !corrected.has(keyId))
      .map(([keyId, { usage, now, granted }]): KeyUsage => {
        // The statement read the clock, waited, and was counted in a window that began meanwhile.
        const { minuteStart, strikesMinute, banStartedAt } = usage;
        const at = Math.max(now, minuteStart, strikesMinute, banStartedAt);
        return [keyId, { usage, now: at, granted }];
      });
  }

  return {
    clock,
    /**
     * Repeats the query for keys without a result: the database may have to insert a row first, or a
     * clock that was ahead may have started a window or a ban.
     */
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
        const counted = rows.map((row): KeyUsage => [row[0] as string, toCountedUsage(row)]);
        for (const [keyId, one] of await withoutCorrected(counted)) found.set(keyId, one);
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
      const rows = await query(addStrikesText, [now(), JSON.stringify(strikes)]);
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
