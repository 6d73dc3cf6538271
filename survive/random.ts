/** A seeded source of random numbers: the same seed gives the same numbers. */
export interface Random {
  /** A number from 0 up to, but not including, 1. */
  fraction(): number;
  /** An integer from 0 up to, but not including, `end`. */
  below(end: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(values: readonly T[]): T;
  /** Returns a copy in random order. */
  shuffle<T>(values: readonly T[]): T[];
}

/** mulberry32: 32 bits of state, good enough to choose faults. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(fraction() * end);
  return {
    fraction,
    below,
    chance: (probability) => fraction() < probability,
    pick: (values) => values[below(values.length)]!,
    shuffle<T>(values: readonly T[]) {
      const copy = [...values];
      for (let at = copy.length - 1; at > 0; at--) {
        const other = below(at + 1);
        [copy[at], copy[other]] = [copy[other]!, copy[at]!];
      }
      return copy;
    },
  };
}
