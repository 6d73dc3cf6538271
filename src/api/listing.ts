import { Refusal } from "../domain/errors.ts";
import type { Replica } from "../domain/follower.ts";
import type { Entry, Stock } from "../domain/inventory.ts";

/**
 * The inventory as the bytes that answer `GET /inventory`. The list is cut into chunks of about
 * half a megabyte. A change waits in its chunk until somebody reads; then that chunk alone is
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
export function itemJson(petId: bigint, stock: Stock): string {
  return `{"petId":${petId},"quantity":${stock.quantity},"status":"${stock.status}"}`;
}

type Item = readonly [petId: bigint, stock: Stock];

/** Text is ASCII throughout, so a string's length is its number of bytes. */
function encode(items: readonly Item[]): Chunk {
  const ids = new BigInt64Array(items.length);
  const ends = new Uint32Array(items.length);
  let text = "";
  for (let index = 0; index < items.length; index++) {
    const [petId, stock] = items[index]!;
    text += `,${itemJson(petId, stock)}`;
    ids[index] = petId;
    ends[index] = text.length;
  }
  return { bytes: latin1(text), ids, ends, readers: 0, superseded: false };
}

/** The same entries as the beginning of the list. */
function asFirst(chunk: Chunk): Chunk {
  const bytes = chunk.bytes.slice();
  bytes[0] = openingBracket;
  return { ...chunk, bytes, readers: 0, superseded: false };
}

/** A chunk with its changes in place: unchanged runs are copied whole, changed entries written. */
function rewrite(chunk: Chunk, changes: ReadonlyMap<bigint, Stock | null>): Chunk {
  const order = [...changes.keys()].sort((a, b) => (a < b ? -1 : 1));
  const written = encode(
    order.flatMap((petId): Item[] => {
      const stock = changes.get(petId)!;
      return stock ? [[petId, stock]] : [];
    }),
  );
  const bytes = new Uint8Array(chunk.bytes.length + written.bytes.length);
  const ids = new BigInt64Array(chunk.ids.length + order.length);
  const ends = new Uint32Array(ids.length);
  let count = 0;
  let length = 0;

  /** Copies entries `from` up to `to` of a chunk behind what is there already. */
  function copy(source: Chunk, from: number, to: number): void {
    if (from === to) return;
    const start = startOf(source, from);
    bytes.set(source.bytes.subarray(start, source.ends[to - 1]!), length);
    // The list's first chunk begins with a bracket; whatever comes first keeps that place.
    bytes[length] = length === 0 ? chunk.bytes[0]! : comma;
    ids.set(source.ids.subarray(from, to), count);
    for (let index = from; index < to; index++) {
      ends[count++] = source.ends[index]! - start + length;
    }
    length = ends[count - 1]!;
  }

  let copied = 0;
  let next = 0;
  for (const petId of order) {
    const place = placeIn(chunk.ids, petId, copied);
    copy(chunk, copied, place);
    copied = chunk.ids[place] === petId ? place + 1 : place;
    if (changes.get(petId)) copy(written, next, ++next);
  }
  copy(chunk, copied, chunk.ids.length);
  return {
    bytes: bytes.slice(0, length),
    ids: ids.slice(0, count),
    ends: ends.slice(0, count),
    readers: 0,
    superseded: false,
  };
}

/** One chunk, or none when it became empty, or several when it grew to more than twice its size. */
function split(chunk: Chunk, chunkEntries: number): Chunk[] {
  const count = chunk.ids.length;
  if (count === 0) return [];
  if (count <= 2 * chunkEntries) return [chunk];
  const parts: Chunk[] = [];
  for (let from = 0; from < count; from += chunkEntries) {
    const to = Math.min(count, from + chunkEntries);
    const start = startOf(chunk, from);
    parts.push({
      bytes: chunk.bytes.slice(start, chunk.ends[to - 1]),
      ids: chunk.ids.slice(from, to),
      ends: chunk.ends.slice(from, to).map((end) => end - start),
      readers: 0,
      superseded: false,
    });
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

function placeIn(ids: BigInt64Array, petId: bigint, from: number): number {
  let low = from;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ids[middle]! < petId) low = middle + 1;
    else high = middle;
  }
  return low;
}

function fixedChunk(text: string): Chunk {
  const ids = new BigInt64Array(0);
  return { bytes: latin1(text), ids, ends: new Uint32Array(0), readers: 0, superseded: false };
}

function latin1(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  Buffer.from(bytes.buffer).write(text, "latin1");
  return bytes;
}
