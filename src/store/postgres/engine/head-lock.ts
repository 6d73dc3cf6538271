import { tipColumns, toTip } from "../../rows.ts";
import { nowMs, serverTimeMs } from "./clock.ts";
import { timelineNow } from "./primary.ts";
import type { Session } from "./session.ts";
import { waitForDisk } from "./transaction.ts";

/**
 * Locks the ledger's head and returns the time of a new row, the timeline, the stored epoch and the
 * time of the server. Every transaction that writes the ledger locks the row of `store`, which it never
 * updates. The lock is a separate statement, because a statement that locks and also reads would read
 * what was there before it got the lock. A session that holds the head and stays idle is ended by the
 * server, so one stopped instance does not stop all others.
 */
export const lockHead = lockHeadWith("");

/**
 * For a group of updates, which reads entries by the index, from its end. A plan made when the
 * inventory was small would scan the whole table, or all versions of an entry through a bitmap,
 * including the versions that cannot be removed yet. The condition limits the wait for locks to $2
 * milliseconds: the server evaluates it before it locks the row. Clients then learn that the store is
 * busy, and not that it cannot be reached.
 */
export const lockHeadForGroup = lockHeadWith(
  ", set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)",
  " AND set_config('lock_timeout', $2::text, true) <> ''",
);

function lockHeadWith(settings: string, condition = ""): string {
  return `SELECT ${nowMs}, ${timelineNow}, epoch, ${serverTimeMs},
      set_config('idle_in_transaction_session_timeout', '1500', true), ${waitForDisk}${settings}
    FROM store WHERE id = 1${condition} FOR UPDATE`;
}

/** Finds the newest row first, however many older versions the server still keeps. */
export const readTip = `SELECT ${tipColumns} FROM ledger_end ORDER BY seq DESC LIMIT 1`;

/** Moves the end of the ledger from $1 to $2, at the time $3, with the hash $4. */
export const moveTip = `UPDATE ledger_end SET seq = $2::int8, at = $3::int8, hash = $4::text
  WHERE seq = $1::int8`;

/** Locks the head for a transaction that was begun, and reads the tip under the lock. */
export async function takeHead({ query, confirm }: Session, now: number | null) {
  const [locked] = await query(lockHead, [now]);
  const [lockedAt, timeline] = [Number(locked![0]), Number(locked![1])];
  confirm(timeline);
  const [row] = await query(readTip);
  const { seq, at, hash } = toTip(row!);
  return { seq, at: Math.max(at, lockedAt), hash, timeline, storeEpoch: locked![2] as string };
}
