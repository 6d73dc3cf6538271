import type { Stock } from "../../domain/ledger/inventory.ts";

/** Consecutive entries. Each starts with a comma, and the first of the list with a bracket. */
export interface Chunk {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly ids: BigInt64Array;
  /** Where each entry's text ends. */
  readonly ends: Uint32Array;
  /** Responses in progress that have not sent this chunk yet. */
  readers: number;
  /** True once a newer chunk has replaced it. */
  superseded: boolean;
}

/** Changes to the entries of one chunk. Null removes an entry. */
export type Changes = Map<bigint, Stock | null>;

const comma = 0x2c;
const openingBracket = 0x5b;
export const closing = fixedChunk("]");
export const empty = fixedChunk("[]");

/** Writes the digits of the id, because a JavaScript number cannot hold all 64-bit ids. */
export function entryJson(petId: bigint | string, stock: Stock): string {
  return `{"petId":${petId},"quantity":${stock.quantity},"status":"${stock.status}"}`;
}

/** The text is ASCII, so the length of a string is its number of bytes. */
export function encode(petIds: readonly bigint[], stocks: readonly Stock[]): Chunk {
  let text = "";
  const ends: number[] = [];
  for (let at = 0; at < petIds.length; at++) {
    text += `,${entryJson(petIds[at]!, stocks[at]!)}`;
    ends.push(text.length);
  }
  const chunk = emptyChunk(petIds.length, text.length);
  Buffer.from(chunk.bytes.buffer).write(text, "latin1");
  chunk.ids.set(petIds);
  chunk.ends.set(ends);
  return chunk;
}

/** Whether this is the first chunk of the list. */
export function isFirst(chunk: Chunk): boolean {
  return chunk.bytes[0] === openingBracket;
}

/** The same entries as the first chunk of the list. */
export function asFirst(chunk: Chunk): Chunk {
  // A copy. The slice() of a Buffer is a view, and responses may be sending the old bytes.
  const bytes = new Uint8Array(chunk.bytes);
  bytes[0] = openingBracket;
  return { ...chunk, bytes, readers: 0, superseded: false };
}

/** Applies changes to a chunk. Copies unchanged entries in blocks and writes changed ones. */
export function rewrite(chunk: Chunk, changes: Changes): Chunk {
  const order = ascending([...changes.keys()]);
  const search = createSearch(chunk.ids);
  const indexes = order.map(search.indexOf);
  const kept = order.filter((petId) => changes.get(petId) !== null);
  const written = encode(
    kept,
    kept.map((petId) => changes.get(petId)!),
  );
  let count = chunk.ids.length + written.ids.length;
  let length = chunk.bytes.length + written.bytes.length;
  const isReplaced = order.map((petId, at) => search.isAt(petId, indexes[at]!));
  indexes.forEach((index, at) => {
    if (!isReplaced[at]) return;
    count -= 1;
    length -= chunk.ends[index]! - startOf(chunk, index);
  });
  const fresh = emptyChunk(count, length);
  const target = { entries: 0, bytes: 0 };
  let copied = 0;
  let pasted = 0;
  let next = 0;
  order.forEach((petId, at) => {
    const index = indexes[at]!;
    // Consecutive changes are copied together, once an unchanged entry follows.
    if (index > copied) {
      copyEntries(written, pasted, next, fresh, target);
      pasted = next;
      copyEntries(chunk, copied, index, fresh, target);
    }
    copied = isReplaced[at] ? index + 1 : index;
    if (changes.get(petId) !== null) next += 1;
  });
  copyEntries(written, pasted, next, fresh, target);
  copyEntries(chunk, copied, chunk.ids.length, fresh, target);
  // The first chunk of the list begins with a bracket, whichever entry comes first now.
  if (length > 0) fresh.bytes[0] = chunk.bytes[0] ?? comma;
  return fresh;
}

/** Sorts only if needed. Imports change entries in order. */
function ascending(petIds: bigint[]): bigint[] {
  for (let at = 1; at < petIds.length; at++) {
    if (petIds[at]! < petIds[at - 1]!) return petIds.sort((a, b) => (a < b ? -1 : 1));
  }
  return petIds;
}

/** Appends the entries `from` up to `to` of one chunk to another. */
function copyEntries(
  source: Chunk,
  from: number,
  to: number,
  into: Chunk,
  target: { entries: number; bytes: number },
): void {
  if (from === to) return;
  const start = startOf(source, from);
  const end = source.ends[to - 1]!;
  into.bytes.set(source.bytes.subarray(start, end), target.bytes);
  into.bytes[target.bytes] = comma;
  into.ids.set(source.ids.subarray(from, to), target.entries);
  const shift = target.bytes - start;
  for (let index = from; index < to; index++) {
    into.ends[target.entries++] = source.ends[index]! + shift;
  }
  target.bytes += end - start;
}

/** Returns no chunk if it is empty, and several if it has more than twice `chunkEntries`. */
export function split(chunk: Chunk, chunkEntries: number): Chunk[] {
  const count = chunk.ids.length;
  if (count === 0) return [];
  if (count <= 2 * chunkEntries) return [chunk];
  const parts: Chunk[] = [];
  for (let from = 0; from < count; from += chunkEntries) {
    const to = Math.min(count, from + chunkEntries);
    const part = emptyChunk(to - from, chunk.ends[to - 1]! - startOf(chunk, from));
    copyEntries(chunk, from, to, part, { entries: 0, bytes: 0 });
    if (from === 0) part.bytes[0] = chunk.bytes[0]!;
    parts.push(part);
  }
  return parts;
}

function startOf(chunk: Chunk, index: number): number {
  return index === 0 ? 0 : chunk.ends[index - 1]!;
}

/**
 * Finds ids by binary search. It compares 32-bit halves, because each read from a BigInt64Array
 * allocates a BigInt, and a long import would leave millions of them to the garbage collector.
 */
function createSearch(ids: BigInt64Array) {
  const halves = new Int32Array(ids.buffer);
  const [low, high] = isLittleEndian ? [0, 1] : [1, 0];

  /** The index of this id, or the index at which it belongs. */
  function indexOf(petId: bigint): number {
    const wantedHigh = Number(petId >> 32n);
    const wantedLow = Number(petId & 0xffff_ffffn);
    let from = 0;
    let to = ids.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const difference = halves[2 * middle + high]! - wantedHigh;
      const isBefore =
        difference < 0 || (difference === 0 && halves[2 * middle + low]! >>> 0 < wantedLow);
      if (isBefore) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  return { indexOf, isAt: (petId: bigint, index: number) => ids[index] === petId };
}

const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** Allocates a chunk. Does not clear the bytes, because the caller writes all of them. */
function emptyChunk(entries: number, byteLength: number): Chunk {
  return {
    bytes: Buffer.allocUnsafeSlow(byteLength),
    ids: new BigInt64Array(entries),
    ends: new Uint32Array(entries),
    readers: 0,
    superseded: false,
  };
}

function fixedChunk(text: string): Chunk {
  const chunk = emptyChunk(0, text.length);
  Buffer.from(chunk.bytes.buffer).write(text, "latin1");
  return chunk;
}
