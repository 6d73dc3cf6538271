/** How keys share what is bounded, so that no key keeps another from being served. */

/**
 * Whether a key may take more of a bounded number of places. It may have as many as it leaves free:
 * alone half of them, beside another key that takes as much a third. The first that a key wants only
 * needs room.
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
