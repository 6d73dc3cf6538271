/** Numbers 64-bit ids from 0, in the order in which they are first used. */
export interface Slots {
  slotOf(id: bigint): number;
  idOf(slot: number): bigint;
  readonly count: number;
}

const initialIds = 1_024;

/**
 * A hash table with open addressing, in typed arrays. With a million ids a Map takes 300 MB and
 * this takes 30 MB.
 */
export function createSlots(): Slots {
  let ids = new BigInt64Array(initialIds);
  /** Slots plus one, by hash. 0 is free. At least half of the table is always free. */
  let table = new Int32Array(2 * initialIds);
  let count = 0;

  /** The index of an id in the table, or the free index where it belongs. */
  function indexOf(id: bigint): number {
    const mask = table.length - 1;
    let index = hash(id) & mask;
    while (table[index] !== 0 && ids[table[index]! - 1] !== id) index = (index + 1) & mask;
    return index;
  }

  function grow(): void {
    const larger = new BigInt64Array(2 * ids.length);
    larger.set(ids);
    ids = larger;
    table = new Int32Array(2 * table.length);
    for (let slot = 0; slot < count; slot++) table[indexOf(ids[slot]!)] = slot + 1;
  }

  return {
    get count() {
      return count;
    },
    idOf: (slot) => ids[slot]!,
    slotOf(id) {
      let index = indexOf(id);
      if (table[index] !== 0) return table[index]! - 1;
      if (count === ids.length) {
        grow();
        index = indexOf(id);
      }
      ids[count] = id;
      count += 1;
      table[index] = count;
      return count - 1;
    },
  };
}

/** Ids are often consecutive, so both halves are mixed (Knuth's multiplicative hash). */
function hash(id: bigint): number {
  const low = Number(BigInt.asIntN(32, id));
  const high = Number(BigInt.asIntN(32, id >> 32n));
  const mixed = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
