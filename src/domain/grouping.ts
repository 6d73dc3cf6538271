/** What an engine gains from large groups and from transactions that overlap. */
export interface GroupingBounds {
  /** Transactions under way at the same time, if no other process writes. */
  readonly transactionsMax: number;
  /**
   * If there are at most this many callers, they share one group. Worth it where a transaction costs much
   * more than a change in it. 0 if no group waits for others.
   */
  readonly callersMax: number;
  /** The longest time that a group waits for callers that are likely to return. */
  readonly waitMsMax: number;
}

/** Decides when the changes that wait are sent. Callers are counted in changes. */
export interface Grouping {
  /**
   * How long the changes that wait should still wait: 0 if they should be sent now, `Infinity` if until
   * more arrive or a transaction ends.
   */
  waitMs(waiting: number): number;
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
 * Few callers share one group. More are divided among as many groups as transactions may be under way, so
 * that the store works on one group while the callers of another get their outcomes and return. If other
 * processes write, the store works on their groups meanwhile. Then one large group costs less than several.
 */
export function createGrouping(bounds: GroupingBounds): Grouping {
  const { transactionsMax, callersMax, waitMsMax } = bounds;
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

  /** Changes that are worth a transaction. */
  function enough(): number {
    if (callers <= callersMax) return callers;
    return Math.max(callersMax / 2, callers / overlapMax());
  }

  return {
    waitMs(waiting) {
      if (transactions >= overlapMax()) return Number.POSITIVE_INFINITY;
      if (waiting >= enough()) return 0;
      if (transactions > 0) return Number.POSITIVE_INFINITY;
      return callers > callersMax ? 0 : Math.max(0, waitUntil - performance.now());
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
      waitUntil = performance.now() + Math.min(waitShare * durationMs, waitMsMax);
      transactions -= 1;
      changesUnderWay -= changes;
    },
  };
}
