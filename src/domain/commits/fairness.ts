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
