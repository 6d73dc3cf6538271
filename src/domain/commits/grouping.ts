/** What an engine gains from large groups and from transactions that overlap. */
export interface GroupingBounds {
  /** Transactions under way at the same time, if no other process writes. */
  readonly transactionsMax: number;
  /** The fewest changes for which a transaction overlaps with another. Fewer wait until it has ended. */
  readonly overlapMin: number;
  /**
   * With at most this many callers and an idle store, a group waits briefly for callers to send their
   * next change. Worth it where a transaction costs much more than a change in it. Where transactions
   * may overlap, `overlapMin` is the limit.
   */
  readonly callersMax: number;
  /** The longest time that a group waits for them. */
  readonly waitMsMax: number;
}

/** Decides when the changes that wait are sent. Callers are counted in changes. */
export interface Grouping {
  /**
   * How long the changes that wait should still wait: 0 if they should be sent now, `Infinity` if until
   * more arrive or a transaction ends.
   */
  waitMs(waiting: number): number;
  /** Transactions that have begun and not ended. */
  readonly transactions: number;
  begun(changes: number): void;
  /** Tells which rows of the ledger a group became. Rows in between are those of other processes. */
  stored(first: number, last: number): void;
  /** `queued` are the changes that wait at that moment, and those that have just arrived. */
  ended(changes: number, durationMs: number, queued: number): void;
}

/**
 * A group waits for returning callers for at most this share of the last transaction's duration. Timers
 * are exact to a millisecond.
 */
const waitShare = 0.5;

/** After this many groups in a row without rows of other processes, transactions may overlap. */
const aloneMin = 8;

/**
 * Callers are divided among as many groups as transactions may be under way, so that the store works on one
 * group while the callers of another get their outcomes and return. Few callers share one group. All do if
 * other processes write: then the store works on their groups meanwhile, and one large group costs less than
 * several.
 */
export function createGrouping(bounds: GroupingBounds, monotonicMs: () => number): Grouping {
  const { transactionsMax, overlapMin, callersMax, waitMsMax } = bounds;
  let transactions = 0;
  let changesUnderWay = 0;
  /** Changes that were queued or under way when the last transaction ended. Their callers may return. */
  let callers = 0;
  /** Until when a group waits for them. */
  let waitUntil = 0;
  /** The last row of this process, and the groups since rows of others were seen. */
  let lastRow = 0;
  let aloneGroups = 0;

  const overlapMax = () => (aloneGroups < aloneMin ? 1 : transactionsMax);

  /** The share of the callers that makes a group. */
  function share(): number {
    return Math.min(callers, Math.max(overlapMin, callers / overlapMax()));
  }

  return {
    waitMs(waiting) {
      if (transactions >= overlapMax()) return Number.POSITIVE_INFINITY;
      if (waiting >= share()) return 0;
      if (transactions > 0) return Number.POSITIVE_INFINITY;
      const isWorthAWait = callers <= (overlapMax() > 1 ? overlapMin : callersMax);
      return isWorthAWait ? Math.max(0, waitUntil - monotonicMs()) : 0;
    },
    get transactions() {
      return transactions;
    },
    begun(changes) {
      transactions += 1;
      changesUnderWay += changes;
    },
    stored(first, last) {
      aloneGroups = first === lastRow + 1 ? aloneGroups + 1 : 0;
      lastRow = last;
    },
    ended(changes, durationMs, queued) {
      callers = changesUnderWay + queued;
      waitUntil = monotonicMs() + Math.min(waitShare * durationMs, waitMsMax);
      transactions -= 1;
      changesUnderWay -= changes;
    },
  };
}
