import type { Unit } from "../ledger/ledger.ts";

/** Something that waits with a unit of changes. */
export interface Queued {
  readonly unit: Unit;
}

/** Units that wait for a transaction. If there are more than fit into one, keys take turns. */
export interface UnitQueue<T extends Queued> {
  /** In the order in which they will be taken, if no others arrive. */
  readonly units: readonly T[];
  readonly changes: number;
  add(units: readonly T[]): void;
  /** The units that share the next transaction: at least one, if any waits. They stay in the queue. */
  next(): readonly T[];
  /** Removes the first units. They are those of `next`, if nothing was done in between. */
  take(count: number): readonly T[];
  /** Removes all units. */
  clear(): readonly T[];
}

/** In its turn, a key adds up to this share of a group, or one larger unit. */
const turnShare = 1 / 8;

export function createUnitQueue<T extends Queued>(groupMax: number): UnitQueue<T> {
  let waiting: T[] = [];
  let changes = 0;

  function take(count: number): readonly T[] {
    const taken = count < waiting.length ? waiting.splice(0, count) : waiting;
    if (taken === waiting) waiting = [];
    changes -= changesOf(taken);
    return taken;
  }

  return {
    get units() {
      return waiting;
    },
    get changes() {
      return changes;
    },
    add(units) {
      for (const one of units) waiting.push(one);
      changes += changesOf(units);
    },
    next() {
      if (changes <= groupMax) return waiting;
      const group: T[] = [];
      const others: T[] = [];
      const passedOver = new Set<string | null>();
      let sum = 0;
      for (const one of inTurns(waiting, keyOf, sizeOf, groupMax * turnShare)) {
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
      waiting = [...group, ...others];
      return group;
    },
    take,
    clear: () => take(waiting.length),
  };
}

export function keyOf({ unit }: Queued): string | null {
  return unit.keyId;
}

export function sizeOf({ unit }: Queued): number {
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

/** How much of what waits belongs to a key. */
export interface OwnCounts<T> {
  of(key: string | null): number;
  added(one: T): void;
  removed(some: readonly T[]): void;
}

/**
 * Counts from the first question on, until nothing waits any more. Where it hardly ever matters how much
 * a key has, counting costs nothing. `all` lists what waits.
 */
export function createOwnCounts<T>(
  all: () => readonly T[],
  keyOf: (one: T) => string | null,
  sizeOf: (one: T) => number,
): OwnCounts<T> {
  let counts: Map<string | null, number> | undefined;

  function change(counted: Map<string | null, number>, one: T, sign: 1 | -1): void {
    const key = keyOf(one);
    const count = (counted.get(key) ?? 0) + sign * sizeOf(one);
    if (count === 0) counted.delete(key);
    else counted.set(key, count);
  }

  return {
    of(key) {
      if (!counts) {
        counts = new Map();
        for (const one of all()) change(counts, one, 1);
      }
      return counts.get(key) ?? 0;
    },
    added(one) {
      if (counts) change(counts, one, 1);
    },
    removed(some) {
      if (!counts) return;
      for (const one of some) change(counts, one, -1);
      if (counts.size === 0) counts = undefined;
    },
  };
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
