import type { Unit } from "../ledger/ledger.ts";
import type { UnavailableReason } from "../running/errors.ts";

/** Something that waits with a unit of changes. */
export interface Queued {
  readonly unit: Unit;
}

/** Units that wait for a transaction. If there are more than fit into one, keys take turns. */
export interface UnitQueue<T extends Queued> {
  /** Why no unit of this key and size may be added, if so. */
  reasonToReject(unit: Unit): UnavailableReason | undefined;
  /** Adds a unit. It can be taken when it is admitted. */
  add(one: T): void;
  /** Admits all units that were added. */
  admit(): void;
  /** The changes of the admitted units. */
  readonly changes: number;
  /** The changes of all units. */
  readonly waiting: number;
  /** The units that share the next transaction: at least one, if any is admitted. They stay in the queue. */
  next(): readonly T[];
  /** Removes the first units. They are those of `next`, if nothing was done in between. */
  take(count: number): readonly T[];
  /** Removes all admitted units. */
  clear(): readonly T[];
}

/** In its turn, a key adds up to this share of a group, or one larger unit. */
const turnShare = 1 / 8;

/** `queueMax` is the largest number of changes that may wait. */
export function createUnitQueue<T extends Queued>(
  groupMax: number,
  queueMax: number,
): UnitQueue<T> {
  /** In the order in which they will be taken, if no others arrive. */
  let admitted: T[] = [];
  let changes = 0;
  let arriving: T[] = [];
  let waiting = 0;
  /** The changes of each key, counted from the first question on, until nothing waits any more. */
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
    reasonToReject({ keyId, changes: { length } }) {
      if (waiting + length > queueMax) return "tooManyUpdates";
      // Until half of the queue is taken, every key is within its share, and is not counted.
      if (isWithinShare(waiting, waiting, length, queueMax)) return undefined;
      const isWithin = isWithinShare(countOf(keyId), waiting, length, queueMax);
      return isWithin ? undefined : "tooManyOwnUpdates";
    },
    add(one) {
      arriving.push(one);
      waiting += sizeOf(one);
      if (counts) count(counts, one, 1);
    },
    admit() {
      for (const one of arriving) admitted.push(one);
      arriving = [];
      changes = waiting;
    },
    get changes() {
      return changes;
    },
    get waiting() {
      return waiting;
    },
    next() {
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
          // Those behind it that fit are taken, but not of its own key, which keeps its order.
          others.push(one);
          passedOver.add(keyOf(one));
        }
      }
      admitted = [...group, ...others];
      return group;
    },
    take,
    clear: () => take(admitted.length),
  };
}

function keyOf({ unit }: Queued): string | null {
  return unit.keyId;
}

function sizeOf({ unit }: Queued): number {
  return unit.changes.length;
}

export function changesOf(units: readonly Queued[]): number {
  let changes = 0;
  for (const one of units) changes += sizeOf(one);
  return changes;
}

/** How keys share what is bounded, so that no key keeps another from being served. */

/**
 * Whether a key may take more places. It may have at most as many as are still free: half of all if it
 * is alone, a third if another key wants as much. The first place that a key wants only has to be free.
 */
export function isWithinShare(own: number, taken: number, wanted: number, max: number): boolean {
  return own + taken + wanted <= max;
}

/**
 * Arranges what waits so that keys take turns. The key that is first stays first, and every key keeps
 * its own order. A turn has up to `turnMax`, or one that is larger. If the first ones are removed and
 * others added at the end, another call continues with the turn of the next key.
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
