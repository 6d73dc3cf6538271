import type { Usage } from "../domain/limits.ts";
import type { Limits } from "../domain/plans.ts";

/**
 * The statements of the shared limiter. Each is a transaction of its own, so that no instance ever
 * holds a lock over a round trip, and each asks for its own commit not to wait for the disk: a
 * crash may forget the last half second of counts, and nothing else in the database is relaxed.
 */
export type Ask = (text: string, values: readonly unknown[]) => Promise<Rows>;
export type Rows = readonly (readonly unknown[])[];

/** The database's own time in milliseconds, unless the first parameter gives another. */
const moment = `(SELECT set_config('synchronous_commit', 'off', true),
    coalesce($1::int8, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8)
  ) AS moment(relaxed, ms)`;

const minuteUsed =
  "(CASE WHEN usage.minute_start >= excluded.minute_start THEN usage.minute_count ELSE 0 END)";
const dayUsed = "(CASE WHEN usage.day_start >= excluded.day_start THEN usage.day_count ELSE 0 END)";
const granted = `(CASE WHEN usage.banned_until > excluded.asked_at THEN 0
  ELSE greatest(0, least(excluded.wanted, excluded.per_minute - ${minuteUsed},
                         excluded.per_day - ${dayUsed})) END)`;

/**
 * When the window was first found exhausted; one that begins anew has not been yet. A question
 * that waited across the edge is older than the window it was counted in.
 */
const firstRefusal = (window: "minute" | "day", limit: string, used: string) => `CASE
    WHEN usage.${window}_start >= excluded.${window}_start AND usage.${window}_refused_at > 0
    THEN usage.${window}_refused_at
    WHEN ${granted} < excluded.wanted AND ${used} + ${granted} >= ${limit}
    THEN greatest(excluded.asked_at, usage.${window}_start)
    ELSE 0 END`;

const state = `key_id, minute_start, minute_count, minute_refused_at, day_start, day_count,
  day_refused_at, last_used_at, strikes_minute, strikes, ban_started_at, banned_until, asked_at`;

/**
 * Takes as many as are wanted, or as many as are left: $2 keys, $3 wanted, $4 per minute, $5 per
 * day. Rows are locked in the order of their keys, so that instances cannot deadlock. A window
 * ahead of the clock stays: none ever reopens.
 */
const takeText = `
  INSERT INTO usage (key_id, minute_start, minute_count, day_start, day_count, last_used_at,
                     asked_at, wanted, granted, per_minute, per_day,
                     minute_refused_at, day_refused_at)
  SELECT asked.key_id, ms - ms % 60000, given, ms - ms % 86400000, given, ms,
         ms, wanted, given, per_minute, per_day,
         CASE WHEN given < wanted AND given >= per_minute THEN ms ELSE 0 END,
         CASE WHEN given < wanted AND given >= per_day THEN ms ELSE 0 END
  FROM ${moment},
    unnest($2::text[], $3::int8[], $4::int8[], $5::int8[])
      AS asked(key_id, wanted, per_minute, per_day),
    LATERAL (SELECT least(wanted, per_minute, per_day)) AS first(given)
  WHERE relaxed = 'off'
  ORDER BY asked.key_id
  ON CONFLICT (key_id) DO UPDATE SET
    minute_start = greatest(usage.minute_start, excluded.minute_start),
    minute_count = ${minuteUsed} + ${granted},
    minute_refused_at = ${firstRefusal("minute", "excluded.per_minute", minuteUsed)},
    day_start = greatest(usage.day_start, excluded.day_start),
    day_count = ${dayUsed} + ${granted},
    day_refused_at = ${firstRefusal("day", "excluded.per_day", dayUsed)},
    last_used_at = CASE WHEN ${granted} > 0 THEN greatest(usage.last_used_at, excluded.asked_at)
                        ELSE usage.last_used_at END,
    asked_at = excluded.asked_at,
    wanted = excluded.wanted, granted = ${granted},
    per_minute = excluded.per_minute, per_day = excluded.per_day
  RETURNING ${state}, granted`;

/** Adds strikes of one minute to what other instances saw: $2 keys, $3 minutes, $4 strikes. */
const strikeText = `
  INSERT INTO usage (key_id, strikes_minute, strikes, asked_at)
  SELECT struck.key_id, struck.minute, struck.count, ms
  FROM ${moment}, unnest($2::text[], $3::int8[], $4::int8[]) AS struck(key_id, minute, count)
  WHERE relaxed = 'off'
  ORDER BY struck.key_id
  ON CONFLICT (key_id) DO UPDATE SET
    strikes = CASE WHEN usage.strikes_minute > excluded.strikes_minute THEN usage.strikes
                   WHEN usage.strikes_minute = excluded.strikes_minute
                   THEN usage.strikes + excluded.strikes
                   ELSE excluded.strikes END,
    strikes_minute = greatest(usage.strikes_minute, excluded.strikes_minute),
    asked_at = excluded.asked_at
  RETURNING ${state}`;

/** Begins a ban, unless another instance began one since this one looked. */
const banText = `
  WITH begun AS (
    UPDATE usage SET ban_started_at = $2::int8, banned_until = $3::int8, strikes = 0
    WHERE key_id = $1 AND ban_started_at = $4::int8 RETURNING key_id)
  INSERT INTO bans (key_id, started_at, until)
  SELECT key_id, $2::int8, $3::int8 FROM begun ON CONFLICT DO NOTHING RETURNING key_id`;

export interface Wish {
  readonly keyId: string;
  readonly limits: Limits;
  readonly wanted: number;
}

/** What the database knows of a key, and the very moment by which it decided. */
export interface Known {
  readonly usage: Usage;
  readonly now: number;
  readonly granted: number;
}

export interface Strikes {
  readonly keyId: string;
  readonly minute: number;
  readonly count: number;
}

export function createStatements(ask: Ask, now: () => number | null) {
  return {
    async take(wishes: readonly Wish[]): Promise<Map<string, Known>> {
      const rows = await ask(takeText, [
        now(),
        `{${wishes.map(({ keyId }) => JSON.stringify(keyId)).join()}}`,
        `{${wishes.map(({ wanted }) => wanted).join()}}`,
        `{${wishes.map(({ limits }) => limits.perMinute).join()}}`,
        `{${wishes.map(({ limits }) => limits.perDay).join()}}`,
      ]);
      return new Map(rows.map((row) => [row[0] as string, toKnown(row)]));
    },
    async strike(strikes: readonly Strikes[]): Promise<Map<string, Known>> {
      const rows = await ask(strikeText, [
        now(),
        `{${strikes.map(({ keyId }) => JSON.stringify(keyId)).join()}}`,
        `{${strikes.map(({ minute }) => minute).join()}}`,
        `{${strikes.map(({ count }) => count).join()}}`,
      ]);
      return new Map(rows.map((row) => [row[0] as string, toKnown(row)]));
    },
    /** True if this call began the ban, false if there was another already. */
    async ban(keyId: string, startedAt: number, until: number, previous: number) {
      return (await ask(banText, [keyId, startedAt, until, previous])).length > 0;
    },
  };
}

function toKnown(row: readonly unknown[]): Known {
  const [minuteStart, minuteCount, minuteRefusedAt, dayStart, dayCount, dayRefusedAt] = row
    .slice(1, 7)
    .map(Number) as [number, number, number, number, number, number];
  const [lastUsedAt, strikesMinute, strikes, banStartedAt, bannedUntil, now, granted = 0] = row
    .slice(7)
    .map(Number) as [number, number, number, number, number, number, number?];
  const usage: Usage = {
    ...{ minuteStart, minuteCount, minuteRefusedAt, dayStart, dayCount, dayRefusedAt },
    ...{ lastUsedAt, strikesMinute, strikes, banStartedAt, bannedUntil },
  };
  return { usage, now, granted };
}
