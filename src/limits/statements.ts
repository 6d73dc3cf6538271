import type { Usage } from "../domain/limits.ts";
import type { Limits } from "../domain/plans.ts";

/**
 * The statements of the shared limiter. Each is a transaction of its own, so that no instance ever
 * holds a lock over a round trip, and each asks for its own commit not to wait for the disk: a
 * crash may forget the last half second of counts, and nothing else in the database is relaxed.
 */
export type Ask = (text: string, values: readonly unknown[]) => Promise<Rows>;
export type Rows = readonly (readonly unknown[])[];

/**
 * Takes as many as are wanted, or as many as are left: $2 keys, $3 wanted, $4 per minute, $5 per
 * day. The function is part of the schema.
 */
const takeText =
  "SELECT * FROM petstore_take($1::int8, $2::text[], $3::int8[], $4::int8[], $5::int8[])";

/**
 * Adds strikes of one minute to what other instances saw: $2 keys, $3 minutes, $4 strikes. Rows are
 * locked in the order of their keys, so that instances cannot deadlock. The time is the database's
 * own in milliseconds, unless the first parameter gives another.
 */
const strikeText = `
  WITH moment AS (
    SELECT set_config('synchronous_commit', 'off', true) AS relaxed,
           coalesce($1::int8, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8) AS ms),
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

/** Begins a ban, unless another instance began one since this one looked. */
const banText = `
  WITH begun AS (
    UPDATE standings SET ban_started_at = $2::int8, banned_until = $3::int8, strikes = 0
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
    /** Asks for every wish until it is answered: the database may have to make a row first. */
    async take(wishes: readonly Wish[]): Promise<Map<string, Known>> {
      const found = new Map<string, Known>();
      for (let asked = wishes; asked.length > 0; ) {
        const rows = await ask(takeText, [
          now(),
          `{${asked.map(({ keyId }) => JSON.stringify(keyId)).join()}}`,
          `{${asked.map(({ wanted }) => wanted).join()}}`,
          `{${asked.map(({ limits }) => limits.perMinute).join()}}`,
          `{${asked.map(({ limits }) => limits.perDay).join()}}`,
        ]);
        for (const row of rows) found.set(row[0] as string, toKnown(row));
        asked = asked.filter(({ keyId }) => !found.has(keyId));
      }
      return found;
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
