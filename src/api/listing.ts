import { Refusal } from "../domain/errors.ts";
import type { Replica } from "../domain/follower.ts";
import type { Entry, Stock } from "../domain/inventory.ts";

/**
 * The inventory as the bytes that answer `GET /inventory`. The list is cut into chunks of some
 * thousand entries. A change waits in its chunk until somebody reads; then that chunk alone is
 * written anew, in one pass over all its waiting changes, and every other chunk is shared with the
 * version before. Bytes once handed out are never changed.
 */
export interface Listing extends Replica {
  /** The list as it is now. Refuses when slow readers already hold too much of older versions. */
  version(): ListVersion;
  /** A slow answer says what it still has to send, so that it can be bounded. */
  hold(version: ListVersion): void;
  /** The answer has sent this chunk, or will not. */
  release(chunk: Chunk): void;
}

/** One state of the list. `chunks` joined are the JSON text. */
export interface ListVersion {
  readonly chunks: readonly Chunk[];
  readonly byteLength: number;
}

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

export interface ListingOptions {
  readonly chunkEntries: number;
  /** Bytes of older versions that slow readers may keep alive. */
  readonly heldBytesMax: number;
}

const comma = 0x2c;
const openingBracket = 0x5b;
const closing = fixedChunk("]");
const empty = fixedChunk("[]");

export function createListing(options: ListingOptions): Listing {
  let chunks: Chunk[] = [];
  /** Changes not yet in their chunk's bytes; null removes. One map a chunk, by position. */
  let waiting: (Map<bigint, Stock | null> | undefined)[] = [];
  let current: ListVersion | undefined;
  let heldBytes = 0;

  function replaceChunk(at: number, fresh: Chunk[]): void {
    const old = chunks[at]!;
    old.superseded = true;
    if (old.readers > 0) heldBytes += old.bytes.length;
    chunks.splice(at, 1, ...fresh);
    waiting.splice(at, 1, ...fresh.map(() => undefined));
  }

  function writeWaiting(): void {
    for (let at = chunks.length - 1; at >= 0; at--) {
      const changes = waiting[at];
      if (changes) replaceChunk(at, split(rewrite(chunks[at]!, changes), options.chunkEntries));
    }
    const first = chunks[0];
    // What was second may become first; its bytes may be on their way to somebody, so copy.
    if (first && first.bytes[0] !== openingBracket) replaceChunk(0, [asFirst(first)]);
  }

  return {
    clear() {
      for (const chunk of chunks) {
        chunk.superseded = true;
        if (chunk.readers > 0) heldBytes += chunk.bytes.length;
      }
      chunks = [];
      waiting = [];
      current = undefined;
    },
    load(entries: readonly Entry[]) {
      current = undefined;
      for (let from = 0; from < entries.length; from += options.chunkEntries) {
        const slice = entries.slice(from, from + options.chunkEntries);
        chunks.push(encode(slice.map((entry) => [entry.petId, entry])));
        waiting.push(undefined);
      }
    },
    apply(petId, after) {
      current = undefined;
      if (chunks.length === 0) {
        chunks.push(encode([]));
        waiting.push(undefined);
      }
      const at = chunkFor(chunks, petId);
      waiting[at] ??= new Map();
      waiting[at].set(petId, after);
    },
    version() {
      if (current) return current;
      if (heldBytes > options.heldBytesMax) {
        throw new Refusal("unavailable", "Too many slow readers hold older lists; try again.");
      }
      writeWaiting();
      const all = chunks.length === 0 ? [empty] : [...chunks, closing];
      const byteLength = all.reduce((sum, chunk) => sum + chunk.bytes.length, 0);
      current = { chunks: all, byteLength };
      return current;
    },
    hold(version) {
      for (const chunk of version.chunks) chunk.readers += 1;
    },
    release(chunk) {
      chunk.readers -= 1;
      if (chunk.readers === 0 && chunk.superseded) heldBytes -= chunk.bytes.length;
    },
  };
}

/** Digits are written as they are, never through a number: ids have 64 bits. */
export function entryJson(petId: bigint, stock: Stock): string {
  return `{"petId":${petId},"quantity":${stock.quantity},"status":"${stock.status}"}`;
}

type Item = readonly [petId: bigint, stock: Stock];

/** Text is ASCII throughout, so a string's length is its number of bytes. */
function encode(items: readonly Item[]): Chunk {
  let text = "";
  const ends: number[] = [];
  for (const [petId, stock] of items) {
    text += `,${entryJson(petId, stock)}`;
    ends.push(text.length);
  }
  const chunk = emptyChunk(items.length, text.length);
  Buffer.from(chunk.bytes.buffer).write(text, "latin1");
  chunk.ids.set(items.map(([petId]) => petId));
  chunk.ends.set(ends);
  return chunk;
}

/** The same entries as the beginning of the list. */
function asFirst(chunk: Chunk): Chunk {
  // Not slice(): of a Buffer that is a view, and the old bytes may be on their way to somebody.
  const bytes = new Uint8Array(chunk.bytes);
  bytes[0] = openingBracket;
  return { ...chunk, bytes, readers: 0, superseded: false };
}

/** A chunk with its changes in place: unchanged runs are copied whole, changed entries written. */
function rewrite(chunk: Chunk, changes: ReadonlyMap<bigint, Stock | null>): Chunk {
  const order = [...changes.keys()].sort((a, b) => (a < b ? -1 : 1));
  const places = order.map((petId) => placeIn(chunk.ids, petId));
  const written = encode(
    order.flatMap((petId): Item[] => {
      const stock = changes.get(petId)!;
      return stock ? [[petId, stock]] : [];
    }),
  );
  let count = chunk.ids.length + written.ids.length;
  let length = chunk.bytes.length + written.bytes.length;
  order.forEach((petId, at) => {
    const place = places[at]!;
    if (chunk.ids[place] !== petId) return;
    count -= 1;
    length -= chunk.ends[place]! - startOf(chunk, place);
  });
  const fresh = emptyChunk(count, length);
  const target = { entries: 0, bytes: 0 };
  let copied = 0;
  let next = 0;
  order.forEach((petId, at) => {
    const place = places[at]!;
    copyEntries(chunk, copied, place, fresh, target);
    copied = chunk.ids[place] === petId ? place + 1 : place;
    if (changes.get(petId)) copyEntries(written, next, ++next, fresh, target);
  });
  copyEntries(chunk, copied, chunk.ids.length, fresh, target);
  // The list's first chunk begins with a bracket; whatever comes first now takes that place.
  if (length > 0) fresh.bytes[0] = chunk.bytes[0] ?? comma;
  return fresh;
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
function split(chunk: Chunk, chunkEntries: number): Chunk[] {
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

/** The chunk that holds this id or would: the last one that does not start behind it. */
function chunkFor(chunks: readonly Chunk[], petId: bigint): number {
  let low = 0;
  let high = chunks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (chunks[middle]!.ids[0]! <= petId) low = middle;
    else high = middle - 1;
  }
  return low;
}

function placeIn(ids: BigInt64Array, petId: bigint): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ids[middle]! < petId) low = middle + 1;
    else high = middle;
  }
  return low;
}

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
