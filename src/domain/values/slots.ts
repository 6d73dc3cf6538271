import { halvesOf, highHalf, lowHalf } from "./int64-arrays.ts";

/** Numbers 64-bit ids from 0, in the order in which they are first used. */
export interface Slots {
  slotOf(id: bigint): number;
  idOf(slot: number): bigint;
  readonly count: number;
  /** All ids, by slot. A view, valid until the next new id. */
  readonly ids: BigInt64Array;
}

const initialIds = 1_024;

/**
 * A hash table with open addressing, in typed arrays. With a million ids a Map takes 300 MB and
 * this takes 30 MB. A table that is made for as many ids as it gets does not have to grow, which
 * takes several milliseconds for half a million ids.
 */
export function createSlots(expected = 0): Slots {
  const length = 2 ** Math.ceil(Math.log2(Math.max(initialIds, expected)));
  let ids = new BigInt64Array(length);
  let halves = halvesOf(ids);
  /** Slots plus one, by hash. 0 is free. At least half of the table is always free. */
  let table = new Int32Array(2 * length);
  let count = 0;
  // Splits an id without arithmetic on BigInts.
  const one = new BigInt64Array(1);
  const oneHalves = halvesOf(one);

  /** The index of an id in the table, or the free index where it belongs. */
  function indexOf(low: number, high: number): number {
    const mask = table.length - 1;
    let index = hash(low, high) & mask;
    for (let used = table[index]!; used !== 0; used = table[index]!) {
      const at = 2 * (used - 1);
      if (halves[at + lowHalf] === low && halves[at + highHalf] === high) break;
      index = (index + 1) & mask;
    }
    return index;
  }

  function grow(): void {
    const larger = new BigInt64Array(2 * ids.length);
    larger.set(ids);
    ids = larger;
    halves = halvesOf(ids);
    table = new Int32Array(2 * table.length);
    for (let slot = 0; slot < count; slot++) {
      table[indexOf(halves[2 * slot + lowHalf]!, halves[2 * slot + highHalf]!)] = slot + 1;
    }
  }

  return {
    get count() {
      return count;
    },
    get ids() {
      return ids.subarray(0, count);
    },
    idOf: (slot) => ids[slot]!,
    slotOf(id) {
      one[0] = id;
      const low = oneHalves[lowHalf]!;
      const high = oneHalves[highHalf]!;
      let index = indexOf(low, high);
      if (table[index] !== 0) return table[index]! - 1;
      if (count === ids.length) {
        grow();
        index = indexOf(low, high);
      }
      ids[count] = id;
      count += 1;
      table[index] = count;
      return count - 1;
    },
  };
}

/** Ids are often consecutive, so both halves are mixed (Knuth's multiplicative hash). */
function hash(low: number, high: number): number {
  const mixed = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
