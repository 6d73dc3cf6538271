import type { HistoryReader } from "../ledger/store.ts";
import { setBackMsMax } from "../limits/limits.ts";
import { every } from "../running/background.ts";
import type { Clock } from "../running/clock.ts";
import type { Log } from "../running/events.ts";

export type ClockWatch = ReturnType<typeof createClockWatch>;

export interface ClockWatchOptions {
  /** Whose clock it is, for the log. */
  readonly name: string;
  readonly periodMs: number;
  /**
   * The last time that an earlier process knew. How long ago that was is unknown, so the time from
   * then to the first one that is observed counts as skipped.
   */
  readonly lastKnown: number;
  /** The times that the clock may have skipped before `lastKnown`. */
  readonly skipped?: Skip | undefined;
  readonly log: Log;
}

/** Times that the clock did not show. */
export interface Skip {
  readonly from: number;
  readonly to: number;
}

/**
 * The gap between two ledger rows in which the period begins. The clock may have skipped it: an earlier
 * process knew, but not this one.
 */
export async function gapAt(history: HistoryReader, begin: number): Promise<Skip> {
  const seq = await history.seqAt(begin);
  const rows = await history.listRows({ after: Math.max(0, seq - 1), upTo: seq + 1 }, 2);
  const [from, to] = seq === 0 ? [begin, begin] : [rows[0]?.at ?? begin, rows[1]?.at ?? begin];
  return { from, to };
}

/**
 * Compares a clock with the time that has passed. Logs each jump once, and knows which times the clock
 * skipped, so that what must be kept for a period is not forgotten after a jump.
 */
export function createClockWatch(options: ClockWatchOptions) {
  const { name, periodMs, lastKnown, skipped, log } = options;
  /** The latest first. */
  let skips: readonly Skip[] = skipped ? [skipped] : [];
  let last: { readonly now: number; readonly elapsedMs: number } | undefined;

  /** The skips within the period that ends at `now`, and how far back they make it reach. */
  function inReach(now: number) {
    let reachMs = periodMs;
    const reached: Skip[] = [];
    for (const { from, to: end } of skips) {
      // After a jump back, the clock has yet to show later times.
      const to = Math.min(end, now);
      if (from >= to || now - to >= reachMs) continue;
      reachMs += to - from;
      reached.push({ from, to });
    }
    return { reached, reachMs };
  }

  return {
    /** Takes a time of the clock. `elapsedMs` is that of a clock which never jumps, at the same moment. */
    observe(now: number, elapsedMs: number): void {
      // Whole milliseconds, as stores keep them.
      const expected = last ? last.now + Math.floor(elapsedMs - last.elapsedMs) : lastKnown;
      if (Math.abs(now - expected) > setBackMsMax) {
        const { reached } = inReach(Math.min(now, expected));
        skips = now > expected ? [{ from: expected, to: now }, ...reached] : reached;
        if (last) log("clock jumped", { clock: name, byMs: now - expected });
      }
      last = { now, elapsedMs };
    },
    /** How far back the period reaches in the clock's times: the period, and what was skipped in it. */
    reachMs: () => (last ? inReach(last.now).reachMs : periodMs),
  };
}

const observeEveryMs = 1_000;

/** Watches a clock of this process until it is stopped. */
export function watchClock(clock: Clock, options: ClockWatchOptions) {
  const watch = createClockWatch(options);
  const observe = () => watch.observe(clock.now(), clock.elapsedMs());
  observe();
  return {
    /** Includes a jump that has happened just now. */
    reachMs(): number {
      observe();
      return watch.reachMs();
    },
    stop: every(observeEveryMs, "watching the clock", options.log, observe),
  };
}
