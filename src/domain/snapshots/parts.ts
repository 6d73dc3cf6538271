import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { petStatuses } from "../ledger/inventory.ts";
import { type EntryColumns, emptyColumns } from "./columns.ts";
import type { CheckpointReader } from "./store.ts";

/**
 * A part of a checkpoint: up to some thousand entries by ascending id, packed and compressed.
 *
 * Each field is stored as planes of bytes: the lowest byte of every entry, then the next byte, and
 * so on. Nearly all planes are constant or repeat, so a part takes four to five bytes per entry.
 * zstd adds a checksum. A part without its compression:
 *
 *   format (1 byte), number of entries (4), 8 planes of pet ids, 7 of quantities, 1 of statuses, 7 of versions
 *
 * Numbers are little-endian. Ids are in two's complement. A status is its index in `petStatuses`,
 * plus one.
 */

const format = 1;
const headerBytes = 5;
const idPlanes = 8;
/** Quantities and versions are at most 2^53 - 1. */
const numberPlanes = 7;
const planes = idPlanes + 2 * numberPlanes + 1;

/** The level that compresses fastest. Higher ones save three per cent. */
const compression = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
};

export function packPart(entries: EntryColumns): Uint8Array {
  const { count } = entries;
  const bytes = new Uint8Array(headerBytes + planes * count);
  bytes[0] = format;
  new DataView(bytes.buffer).setUint32(1, count, true);
  const ids = new Uint8Array(entries.petIds.buffer, entries.petIds.byteOffset, 8 * count);
  let at = headerBytes;
  for (let plane = 0; plane < idPlanes; plane++) {
    for (let index = 0; index < count; index++) bytes[at++] = ids[8 * index + plane]!;
  }
  at = packNumbers(entries.quantities, count, bytes, at);
  bytes.set(entries.statuses.subarray(0, count), at);
  packNumbers(entries.versions, count, bytes, at + count);
  return zstdCompressSync(bytes, compression);
}

function packNumbers(
  values: Float64Array,
  count: number,
  bytes: Uint8Array,
  start: number,
): number {
  let at = start;
  for (let plane = 0; plane < numberPlanes; plane++) {
    // Bit operators use the lowest 32 bits, so the upper half is divided first.
    const divisor = plane < 4 ? 1 : 2 ** 32;
    const shift = 8 * (plane % 4);
    for (let index = 0; index < count; index++) {
      bytes[at++] = (values[index]! / divisor) >>> shift;
    }
  }
  return at;
}

/** A part that was damaged, or written by a later version. */
export class UnreadablePart extends Error {}

export function unpackPart(packed: Uint8Array): EntryColumns {
  const bytes = decompress(packed);
  const count = bytes.length < headerBytes ? 0 : readCount(bytes);
  if (bytes[0] !== format || bytes.length !== headerBytes + planes * count) {
    throw new UnreadablePart("it has an unknown format");
  }
  const entries = emptyColumns(count);
  const ids = new Uint8Array(entries.petIds.buffer);
  let at = headerBytes;
  for (let plane = 0; plane < idPlanes; plane++) {
    for (let index = 0; index < count; index++) ids[8 * index + plane] = bytes[at++]!;
  }
  at = unpackNumbers(bytes, at, entries.quantities);
  entries.statuses.set(bytes.subarray(at, at + count));
  if (entries.statuses.some((code) => code < 1 || code > petStatuses.length)) {
    throw new UnreadablePart("it has an unknown status");
  }
  unpackNumbers(bytes, at + count, entries.versions);
  return { ...entries, count };
}

/** Larger than most parts as they are unpacked, so that zstd needs no second buffer. */
const outputBytes = { chunkSize: 256 * 1024 };

function decompress(packed: Uint8Array): Uint8Array {
  try {
    return zstdDecompressSync(packed, outputBytes);
  } catch (error) {
    throw new UnreadablePart((error as Error).message);
  }
}

function readCount({ buffer, byteOffset }: Uint8Array): number {
  return new DataView(buffer, byteOffset).getUint32(1, true);
}

function unpackNumbers(bytes: Uint8Array, start: number, values: Float64Array): number {
  const count = values.length;
  for (let index = 0; index < count; index++) {
    const at = start + index;
    const lower =
      bytes[at]! |
      (bytes[at + count]! << 8) |
      (bytes[at + 2 * count]! << 16) |
      (bytes[at + 3 * count]! << 24);
    const upper =
      bytes[at + 4 * count]! | (bytes[at + 5 * count]! << 8) | (bytes[at + 6 * count]! << 16);
    values[index] = (lower >>> 0) + upper * 2 ** 32;
  }
  return start + numberPlanes * count;
}

/**
 * The version of a pet's entry at the first checkpoint at or after a row. Undefined if there is no
 * such checkpoint, or if it cannot be read. Callers then search without it, which takes longer.
 */
export async function versionAtCheckpoint(
  checkpoints: CheckpointReader,
  petId: bigint,
  seq: number,
): Promise<number | undefined> {
  const checkpoint = await checkpoints.findNextCheckpoint(seq - 1);
  const part = checkpoint && (await checkpoints.findPart(checkpoint.seq, petId));
  if (!part) return undefined;
  try {
    const { petIds, versions, count } = unpackPart(part.data);
    const index = petIds.subarray(0, count).indexOf(petId);
    return index < 0 ? undefined : versions[index];
  } catch (error) {
    if (error instanceof UnreadablePart) return undefined;
    throw error;
  }
}
