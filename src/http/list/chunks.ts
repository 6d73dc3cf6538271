import type { Stock } from "../../domain/inventory.ts";

/** A run of consecutive entries. Each entry starts with a comma, the list's first with a bracket. */
export interface Chunk {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly ids: BigInt64Array;
  /** Where each entry's text ends. */
  readonly ends: Uint32Array;
  /** Answers under way that still have to send this chunk. */
  readers: number;
  /** True once a newer chunk has taken its place. */
  superseded: boolean;
}

/** Changes to entries of one chunk; null removes. */
export type Changes = Map<bigint, Stock | null>;

const comma = 0x2c;
const openingBracket = 0x5b;
export const closing = fixedChunk("]");
export const empty = fixedChunk("[]");

/** Digits are written as they are, never through a number: ids have 64 bits. */
export function entryJson(petId: bigint, stock: Stock): string {
  return `{"petId":${petId},"quantity":${stock.quantity},"status":"${stock.status}"}`;
}

/** Text is ASCII throughout, so a string's length is its number of bytes. */
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

/** Whether this is the beginning of the list. */
export function isFirst(chunk: Chunk): boolean {
  return chunk.bytes[0] === openingBracket;
}

/** The same entries as the beginning of the list. */
export function asFirst(chunk: Chunk): Chunk {
  // Not slice(): of a Buffer that is a view, and the old bytes may be on their way to somebody.
  const bytes = new Uint8Array(chunk.bytes);
  bytes[0] = openingBracket;
  return { ...chunk, bytes, readers: 0, superseded: false };
}

/** A chunk with its changes in place: unchanged runs are copied whole, changed entries written. */
export function rewrite(chunk: Chunk, changes: Changes): Chunk {
  const order = ascending([...changes.keys()]);
  const search = createSearch(chunk.ids);
  const places = order.map(search.placeOf);
  const kept = order.filter((petId) => changes.get(petId) !== null);
  const written = encode(
    kept,
    kept.map((petId) => changes.get(petId)!),
  );
  let count = chunk.ids.length + written.ids.length;
  let length = chunk.bytes.length + written.bytes.length;
  const isReplaced = order.map((petId, at) => search.isAt(petId, places[at]!));
  places.forEach((place, at) => {
    if (!isReplaced[at]) return;
    count -= 1;
    length -= chunk.ends[place]! - startOf(chunk, place);
  });
  const fresh = emptyChunk(count, length);
  const target = { entries: 0, bytes: 0 };
  let copied = 0;
  let pasted = 0;
  let next = 0;
  order.forEach((petId, at) => {
    const place = places[at]!;
    // Changes in a row are copied in one go, once an unchanged entry follows.
    if (place > copied) {
      copyEntries(written, pasted, next, fresh, target);
      pasted = next;
      copyEntries(chunk, copied, place, fresh, target);
    }
    copied = isReplaced[at] ? place + 1 : place;
    if (changes.get(petId) !== null) next += 1;
  });
  copyEntries(written, pasted, next, fresh, target);
  copyEntries(chunk, copied, chunk.ids.length, fresh, target);
  // The list's first chunk begins with a bracket; whatever comes first now takes that place.
  if (length > 0) fresh.bytes[0] = chunk.bytes[0] ?? comma;
  return fresh;
}

/** Imports change entries in order, so there is mostly nothing to sort. */
function ascending(petIds: bigint[]): bigint[] {
  for (let at = 1; at < petIds.length; at++) {
    if (petIds[at]! < petIds[at - 1]!) return petIds.sort((a, b) => (a < b ? -1 : 1));
  }
  return petIds;
}

/** Copies entries `from` up to `to` of one chunk behind what another has already. */
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

/** One chunk, or none when it became empty, or several when it grew to more than twice its size. */
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
 * Finds ids among sorted ones. It compares halves of 32 bits: each look into a BigInt64Array would
 * make a BigInt, and a long import would leave millions of them to the garbage collector.
 */
function createSearch(ids: BigInt64Array) {
  const halves = new Int32Array(ids.buffer);
  const [low, high] = isLittleEndian ? [0, 1] : [1, 0];

  /** Where this id is, or belongs. */
  function placeOf(petId: bigint): number {
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

  return { placeOf, isAt: (petId: bigint, place: number) => ids[place] === petId };
}

const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** Room for so many entries; the bytes are not cleared, every one of them will be written. */
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
