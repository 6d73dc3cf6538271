import { yieldToEventLoop } from "../running/background.ts";

/**
 * Work on arrays of 64-bit ids without BigInts. Each read from a BigInt64Array allocates one, and a
 * million of them take longer to allocate and collect than to compare.
 */

/** Where the halves of an id are, from twice its index. Bun runs on little-endian machines only. */
export const lowHalf = 0;
export const highHalf = 1;

/** The same memory as 32-bit halves. */
export function halvesOf(ids: BigInt64Array): Int32Array {
  return new Int32Array(ids.buffer, ids.byteOffset, 2 * ids.length);
}

/** Compares two ids by their halves: negative, 0 or positive. */
export function compareIds(
  one: Int32Array,
  index: number,
  other: Int32Array,
  otherIndex: number,
): number {
  const difference = one[2 * index + highHalf]! - other[2 * otherIndex + highHalf]!;
  if (difference !== 0) return difference;
  return (one[2 * index + lowHalf]! >>> 0) - (other[2 * otherIndex + lowHalf]! >>> 0);
}

/** How many ids are sorted in one turn of the event loop: a few milliseconds of work. */
const sliceIds = 131_072;

/**
 * Returns the indexes of the ids in ascending order of the ids, and of the indexes where ids are
 * equal. A radix sort by 16 bits at a time. Unlike the sort of typed arrays, it can pause, and it skips
 * the bits that all ids share: small ids need two passes.
 */
export async function sortedIndexes(ids: BigInt64Array): Promise<Uint32Array> {
  const count = ids.length;
  let order = new Uint32Array(count);
  for (let index = 0; index < count; index++) order[index] = index;
  if (isAscending(ids)) return order;
  const digits = new Uint16Array(ids.buffer, ids.byteOffset, 4 * count);
  let target = new Uint32Array(count);
  for (let digit = 0; digit < 4; digit++) {
    // Flips the sign, so that negative ids come first.
    const flip = digit === 3 ? 0x8000 : 0;
    const starts = await countDigits(digits, digit, flip);
    if (starts.includes(count)) continue;
    let sum = 0;
    for (let value = 0; value < starts.length; value++) {
      const start = sum;
      sum += starts[value]!;
      starts[value] = start;
    }
    for (let from = 0; from < count; from += sliceIds) {
      const to = Math.min(count, from + sliceIds);
      for (let at = from; at < to; at++) {
        const index = order[at]!;
        const value = digits[4 * index + digit]! ^ flip;
        target[starts[value]!++] = index;
      }
      if (to < count) await yieldToEventLoop();
    }
    [order, target] = [target, order];
  }
  return order;
}

/** How often each value of a digit occurs. */
async function countDigits(
  digits: Uint16Array,
  offset: number,
  flip: number,
): Promise<Uint32Array> {
  const counts = new Uint32Array(0x10000);
  for (let from = 0; from < digits.length; from += 4 * sliceIds) {
    const to = Math.min(digits.length, from + 4 * sliceIds);
    for (let at = from + offset; at < to; at += 4) counts[digits[at]! ^ flip]!++;
    if (to < digits.length) await yieldToEventLoop();
  }
  return counts;
}

/** Imports add ids in order. */
function isAscending(ids: BigInt64Array): boolean {
  const halves = halvesOf(ids);
  for (let index = 1; index < ids.length; index++) {
    if (compareIds(halves, index - 1, halves, index) > 0) return false;
  }
  return true;
}
