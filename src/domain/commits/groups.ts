import { hasCounts } from "../ledger/counts.ts";
import type { Unit } from "../ledger/ledger.ts";
import type { UnavailableReason } from "../running/errors.ts";

/** What an engine gains from large groups and from transactions that overlap. */
export interface GroupingBounds {
  /** Transactions under way at the same time, if no other process writes. */
  readonly transactionsMax: number;
  /** Smaller groups do not overlap with another transaction, but wait until it has ended. */
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

/**
 * A group waits for returning callers for at most this share of the last transaction's duration.
 */
const waitShare = 0.5;

/** After this many groups in a row without rows of other processes, transactions may overlap. */
const aloneMin = 8;

/**
 * Decides when the waiting changes are sent. Each change counts as one caller.
 *
 * Divides callers among as many groups as there may be transactions at the same time. The store then works
 * on one group while the callers of another get their outcomes and return. If there are few callers, they
 * share one group. They also do if other processes write: the store then works on the groups of the others
 * meanwhile, and one large group costs less than several.
 */
export function createGrouping(bounds: GroupingBounds, monotonicMs: () => number) {
  const { transactionsMax, overlapMin, callersMax, waitMsMax } = bounds;
  let transactions = 0;
  let changesUnderWay = 0;
  /** Changes that were queued or under way when the last transaction ended. Their callers may return. */
  let callers = 0;
  /** Until when a group waits for them. */
  let waitUntil = 0;
  /** The last row of this process, and the number of groups since rows of others were seen. */
  let lastRow = 0;
  let aloneGroups = 0;

  const overlapMax = () => (aloneGroups < aloneMin ? 1 : transactionsMax);

  /** How many changes make a group. */
  function share(): number {
    return Math.min(callers, Math.max(overlapMin, callers / overlapMax()));
  }

  return {
    /**
     * How much longer the waiting changes should wait. 0 means that they should be sent now, `Infinity`
     * that they should wait until more arrive or a transaction ends.
     */
    waitMs(waiting: number): number {
      if (transactions >= overlapMax()) return Number.POSITIVE_INFINITY;
      if (waiting >= share()) return 0;
      if (transactions > 0) return Number.POSITIVE_INFINITY;
      const isWorthAWait = callers <= (overlapMax() > 1 ? overlapMin : callersMax);
      return isWorthAWait ? Math.max(0, waitUntil - monotonicMs()) : 0;
    },
    /** Transactions that have begun and not ended. */
    transactions: () => transactions,
    begun(changes: number): void {
      transactions += 1;
      changesUnderWay += changes;
    },
    /** Tells which ledger rows a group was stored as. Gaps between groups are rows of other processes. */
    stored(first: number, last: number): void {
      aloneGroups = first === lastRow + 1 ? aloneGroups + 1 : 0;
      lastRow = last;
    },
    /** `queued` is the number of changes that wait, including those that have just arrived. */
    ended(changes: number, durationMs: number, queued: number): void {
      callers = changesUnderWay + queued;
      waitUntil = monotonicMs() + Math.min(waitShare * durationMs, waitMsMax);
      transactions -= 1;
      changesUnderWay -= changes;
    },
  };
}

/** Something that waits with a unit of changes. */
export interface Queued {
  readonly unit: Unit;
}

export type UnitQueue<T extends Queued> = ReturnType<typeof createUnitQueue<T>>;

/** In its turn, a key adds up to this share of a group, or one larger unit. */
const turnShare = 1 / 8;

/**
 * Units that wait for a transaction. If there are more than fit into one, keys take turns. `queueMax` is the
 * largest number of changes that may wait.
 */
export function createUnitQueue<T extends Queued>(groupMax: number, queueMax: number) {
  /** In the order in which they will be taken, if no others arrive. */
  let admitted: T[] = [];
  let changes = 0;
  let arriving: T[] = [];
  let waiting = 0;
  /** The number of changes of each key. Kept from the first call of `countOf` until the queue is empty. */
  let counts: Map<string | null, number> | undefined;

  function count(counted: Map<string | null, number>, { unit }: T, sign: 1 | -1): void {
    const own = (counted.get(unit.keyId) ?? 0) + sign * unit.changes.length;
    if (own === 0) counted.delete(unit.keyId);
    else counted.set(unit.keyId, own);
  }

  function countOf(keyId: string | null): number {
    if (!counts) {
      counts = new Map();
      for (const one of admitted) count(counts, one, 1);
      for (const one of arriving) count(counts, one, 1);
    }
    return counts.get(keyId) ?? 0;
  }

  function take(taking: number): readonly T[] {
    const taken = taking < admitted.length ? admitted.splice(0, taking) : admitted;
    if (taken === admitted) admitted = [];
    const size = changesOf(taken);
    changes -= size;
    waiting -= size;
    if (counts) for (const one of taken) count(counts, one, -1);
    if (counts?.size === 0) counts = undefined;
    return taken;
  }

  return {
    /** Why this unit must not be added. Undefined if it may be. */
    reasonToReject({ keyId, changes: { length } }: Unit): UnavailableReason | undefined {
      if (waiting + length > queueMax) return "tooManyUpdates";
      // While the queue is less than half full, every key is within its share, so keys are not counted.
      if (isWithinShare(waiting, waiting, length, queueMax)) return undefined;
      const isWithin = isWithinShare(countOf(keyId), waiting, length, queueMax);
      return isWithin ? undefined : "tooManyOwnUpdates";
    },
    /** Adds a unit. It can be taken after the next `admit`. */
    add(one: T): void {
      arriving.push(one);
      waiting += sizeOf(one);
      if (counts) count(counts, one, 1);
    },
    /** Admits all units that were added. */
    admit(): void {
      for (const one of arriving) admitted.push(one);
      arriving = [];
      changes = waiting;
    },
    admitted: (): readonly T[] => admitted,
    /** The number of changes in the admitted units. */
    changes: () => changes,
    /** The number of changes in all units. */
    waiting: () => waiting,
    /** The units that share the next transaction: at least one, if any is admitted. They stay in the queue. */
    next(): readonly T[] {
      if (changes <= groupMax) return admitted;
      const group: T[] = [];
      const others: T[] = [];
      const passedOver = new Set<string | null>();
      let sum = 0;
      for (const one of inTurns(admitted, keyOf, sizeOf, groupMax * turnShare)) {
        const isFitting = sum === 0 || sum + sizeOf(one) <= groupMax;
        if (isFitting && !passedOver.has(keyOf(one))) {
          group.push(one);
          sum += sizeOf(one);
        } else {
          // Smaller units behind it may be taken first, but not those of its key, which keeps its order.
          others.push(one);
          passedOver.add(keyOf(one));
        }
      }
      admitted = [...group, ...others];
      return group;
    },
    /** Removes the first units. Right after `next`, these are the units that it returned. */
    take,
    /** Removes the admitted units that meet a condition, or all of them. */
    remove(isRemoved: (one: T) => boolean = () => true): readonly T[] {
      const removed = admitted.filter(isRemoved);
      admitted = [...removed, ...admitted.filter((one) => !isRemoved(one))];
      return take(removed.length);
    },
  };
}

function keyOf({ unit }: Queued): string | null {
  return unit.keyId;
}

function sizeOf({ unit }: Queued): number {
  return unit.changes.length;
}

/**
 * The first units, with at most one that has counts. Each of these may read much of the ledger: together,
 * they would keep all others waiting, or need a limit that they share.
 */
export function withOneStocktake<T extends Queued>(units: readonly T[]): readonly T[] {
  let stocktakes = 0;
  const second = units.findIndex(({ unit }) => hasCounts(unit) && ++stocktakes > 1);
  return second < 0 ? units : units.slice(0, second);
}

export function changesOf(units: readonly Queued[]): number {
  let changes = 0;
  for (const one of units) changes += sizeOf(one);
  return changes;
}

/** How keys share a limited number of places, so that no key blocks the others. */

/**
 * Whether a key may take more places. It may have at most as many as would otherwise be free: half of all
 * if it is alone, a third if another key wants as much. A key without places can take any free one.
 */
export function isWithinShare(own: number, taken: number, wanted: number, max: number): boolean {
  return own + taken + wanted <= max;
}

/**
 * Arranges what waits so that keys take turns. The key that is first stays first, and every key keeps
 * its own order. In its turn, a key gets up to `turnMax`, or a single item that is larger. If items are
 * then removed at the start and added at the end, the next call continues with the next key's turn.
 */
export function inTurns<T>(
  waiting: readonly T[],
  keyOf: (one: T) => string | null,
  sizeOf: (one: T) => number,
  turnMax: number,
): T[] {
  const lanes = new Map<string | null, { readonly own: T[]; next: number }>();
  for (const one of waiting) {
    const lane = lanes.get(keyOf(one));
    if (lane) lane.own.push(one);
    else lanes.set(keyOf(one), { own: [one], next: 0 });
  }
  const arranged: T[] = [];
  while (lanes.size > 0) {
    for (const [key, lane] of lanes) {
      const { own } = lane;
      let size = 0;
      do {
        size += sizeOf(own[lane.next]!);
        arranged.push(own[lane.next]!);
        lane.next += 1;
      } while (lane.next < own.length && size + sizeOf(own[lane.next]!) <= turnMax);
      if (lane.next === own.length) lanes.delete(key);
    }
  }
  return arranged;
}
