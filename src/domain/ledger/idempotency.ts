import { hash, randomBytes } from "node:crypto";
import type { Additions, UsedKey } from "./append.ts";

/**
 * Idempotency keys. A store keeps one row for each commit that used keys, with the keys of all its
 * units. Rows are added at the end, which is cheap; a table in the order of the keys would have to
 * write one page per key. Each process that commits keeps an index of these rows in memory.
 */

/** The keys of one commit, as a store keeps them. */
export interface StoredKeys {
  /** The `seq` of the first ledger row of the commit. */
  readonly seq: number;
  readonly at: number;
  /** One record of 40 bytes per key. */
  readonly records: Uint8Array;
}

const digestBytes = 16;
const firstRowAt = 2 * digestBytes;
const rowsAt = firstRowAt + 4;
export const recordBytes = rowsAt + 4;

/** A digest of texts, as 32 hexadecimal digits. Only the last text may contain line breaks. */
export function digestOfTexts(...texts: readonly string[]): string {
  return hash("sha256", texts.join("\n")).slice(0, 2 * digestBytes);
}

/** The keys of a commit that used some, for its row in the store. */
export function storedKeysOf({ rows, usedKeys, at }: Additions): StoredKeys {
  return packKeys(rows[0]!.seq, at, usedKeys);
}

export function packKeys(seq: number, at: number, keys: readonly UsedKey[]): StoredKeys {
  const records = Buffer.alloc(keys.length * recordBytes);
  for (let index = 0; index < keys.length; index++) {
    const { key, request, firstSeq, rows } = keys[index]!;
    const start = index * recordBytes;
    records.write(key + request, start, "hex");
    records.writeUInt32BE(firstSeq - seq, start + firstRowAt);
    records.writeUInt32BE(rows, start + rowsAt);
  }
  return { seq, at, records };
}

export function unpackKeys({ seq, records }: StoredKeys): UsedKey[] {
  const bytes = viewOf(records);
  const keys: UsedKey[] = [];
  for (let start = 0; start + recordBytes <= bytes.length; start += recordBytes) {
    keys.push({
      key: bytes.toString("hex", start, start + digestBytes),
      request: bytes.toString("hex", start + digestBytes, start + firstRowAt),
      firstSeq: seq + bytes.readUInt32BE(start + firstRowAt),
      rows: bytes.readUInt32BE(start + rowsAt),
    });
  }
  return keys;
}

/** Finds a key among those of a commit. */
export function findUsedKey({ seq, records }: StoredKeys, key: string): UsedKey | undefined {
  const bytes = viewOf(records);
  const digest = Buffer.from(key, "hex");
  for (let start = 0; start + recordBytes <= bytes.length; start += recordBytes) {
    if (bytes.compare(digest, 0, digestBytes, start, start + digestBytes) !== 0) continue;
    return unpackKeys({ seq, at: 0, records: bytes.subarray(start, start + recordBytes) })[0];
  }
  return undefined;
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Rows that are read at a time, at first. */
export const pageRowsMin = 100;
const pageRowsMax = 1_000;
const pageBytes = 1_000_000;

/** How many rows to read after these, so that adding them to the index takes a few milliseconds. */
export function nextPageRows(page: readonly StoredKeys[]): number {
  const bytes = page.reduce((sum, { records }) => sum + records.byteLength, 1);
  const wanted = Math.round((page.length * pageBytes) / bytes);
  return Math.min(Math.max(wanted, pageRowsMin), pageRowsMax);
}

export type IdempotencyIndex = ReturnType<typeof createIdempotencyIndex>;

/** A hash table with open addressing. A slot has 32 bits of a key and its row. */
interface Segment {
  /** The `seq` of its first row. Slots contain the distance from it. */
  readonly base: number;
  /** The `seq` of its last row. */
  last: number;
  /** Two numbers per slot: the bits of the key, or 0 if free, and the row. */
  slots: Uint32Array;
  keys: number;
}

export interface IdempotencyIndexOptions {
  /** The slots of the first segment. A power of two, like the other two numbers. */
  readonly slotsMin: number;
  /** A larger table would take more than 20 ms to double. */
  readonly doubledSlotsMax: number;
  /** A segment that follows a full one is made with all its slots, for 3 million keys. */
  readonly laterSlots: number;
  /** Reduces the first 64 bits of a key to 32. */
  readonly bitsOf: (first: number, second: number) => number;
}

/** Finds stored keys. It knows every row up to `seq`. */
export function createIdempotencyIndex({
  slotsMin = 1_024,
  doubledSlotsMax = 1_048_576,
  laterSlots = 4_194_304,
  bitsOf = createBitsOf(),
}: Partial<IdempotencyIndexOptions> = {}) {
  let segments: Segment[] = [];
  let seq = 0;

  function segmentFor(row: number): Segment {
    const current = segments.at(-1);
    if (current && row - current.base < 2 ** 32) {
      if (!isFull(current)) return current;
      if (current.slots.length < 2 * doubledSlotsMax) {
        enlarge(current);
        return current;
      }
    }
    const slots = new Uint32Array(2 * (current ? laterSlots : slotsMin));
    const fresh = { base: row, last: row, slots, keys: 0 };
    segments.push(fresh);
    return fresh;
  }

  return {
    get seq() {
      return seq;
    },
    /** Adds the next row. */
    add({ seq: row, records }: StoredKeys): void {
      const bytes = viewOf(records);
      for (let start = 0; start + recordBytes <= bytes.length; start += recordBytes) {
        const segment = segmentFor(row);
        const bits = bitsOf(bytes.readUInt32BE(start), bytes.readUInt32BE(start + 4));
        insert(segment.slots, toSlotBits(bits), row - segment.base);
        segment.keys += 1;
        segment.last = row;
      }
      seq = row;
    },
    /**
     * The `seq` of every row that may contain a key, the newest first. Read them to be sure: the index
     * keeps 32 bits of a key, so about one search in 400 finds a wrong row among 10 million keys.
     */
    candidates(key: string): readonly number[] {
      const [first, second] = [key.slice(0, 8), key.slice(8, 16)];
      const bits = toSlotBits(bitsOf(Number.parseInt(first, 16), Number.parseInt(second, 16)));
      let found: number[] | undefined;
      for (let at = segments.length - 1; at >= 0; at--) {
        const { slots, base } = segments[at]!;
        const mask = slots.length - 2;
        for (let slot = (2 * bits) & mask; slots[slot] !== 0; slot = (slot + 2) & mask) {
          if (slots[slot] !== bits) continue;
          found ??= [];
          found.push(base + slots[slot + 1]!);
        }
      }
      return found ? found.sort((a, b) => b - a) : none;
    },
    /** Removes rows before this `seq`, in whole segments. */
    forget(before: number): void {
      segments = segments.filter(({ last }) => last >= before);
    },
  };
}

const none: readonly number[] = [];

/**
 * With a random seed, so that no client can compute keys that end up in the same slots. Every search
 * for one of them would read the rows of all others.
 */
function createBitsOf(): IdempotencyIndexOptions["bitsOf"] {
  const seed = randomBytes(4).readInt32BE();
  return (first, second) => mixBits(mixBits(first ^ seed) ^ second);
}

/** The finalizer of MurmurHash3: every bit of the result depends on every bit of the value. */
function mixBits(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** 0 marks a free slot. */
function toSlotBits(bits: number): number {
  return bits === 0 ? 1 : bits;
}

/** At least a quarter of the slots stays free, so that searches are short. */
function isFull({ slots, keys }: Segment): boolean {
  return 8 * keys >= 3 * slots.length;
}

function enlarge(segment: Segment): void {
  const { slots } = segment;
  const larger = new Uint32Array(2 * slots.length);
  for (let slot = 0; slot < slots.length; slot += 2) {
    if (slots[slot] !== 0) insert(larger, slots[slot]!, slots[slot + 1]!);
  }
  segment.slots = larger;
}

function insert(slots: Uint32Array, bits: number, row: number): void {
  const mask = slots.length - 2;
  let slot = (2 * bits) & mask;
  while (slots[slot] !== 0) slot = (slot + 2) & mask;
  slots[slot] = bits;
  slots[slot + 1] = row;
}
