import { petStatuses } from "../../domain/ledger/inventory.ts";
import type { EntryColumns, StockColumns } from "../../domain/snapshots/columns.ts";
import type { DifferenceColumns } from "../../domain/snapshots/differences.ts";
import { halvesOf, highHalf, lowHalf } from "../../domain/values/int64-arrays.ts";

/**
 * Writes slices of an inventory as JSON, straight from typed arrays to bytes. A string per entry
 * takes more than twice as long, and a snapshot may have a million entries.
 */

/** Longer than any entry: 80 bytes with the longest id, quantity and status. */
const entryBytesMax = 96;
/** An id and two stocks. */
const differenceBytesMax = 192;

const opening = bytesOf('{"petId":');
const quantityField = bytesOf(',"quantity":');
/** By the code of the status, from 1. */
const statusFields = ["", ...petStatuses].map((status) => bytesOf(`,"status":"${status}"}`));
const beforeField = bytesOf(',"before":');
const afterField = bytesOf(',"after":');
const stockOpening = bytesOf('{"quantity":');
const nothing = bytesOf("null");
const [comma, closingBrace, zero] = [0x2c, 0x7d, 0x30];

/** The JSON of an array whose items come in slices: each item but the first starts with a comma. */
export async function* jsonArray<T>(
  slices: AsyncIterable<T>,
  encode: (slice: T) => Uint8Array,
): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const slice of slices) {
    const bytes = encode(slice);
    if (isFirst) bytes[0] = "[".charCodeAt(0);
    isFirst = false;
    yield bytes;
  }
  yield Buffer.from(isFirst ? "[]" : "]");
}

/** The entries in the form of `GET /inventory`. Each starts with a comma. */
export function encodeEntries(entries: EntryColumns): Uint8Array {
  const { count, petIds, quantities, statuses } = entries;
  const bytes = Buffer.allocUnsafeSlow(count * entryBytesMax);
  const halves = halvesOf(petIds);
  let at = 0;
  for (let index = 0; index < count; index++) {
    bytes[at++] = comma;
    at = put(bytes, at, opening);
    at = putId(bytes, at, petIds, halves, index);
    at = put(bytes, at, quantityField);
    at = putNumber(bytes, at, quantities[index]!);
    at = put(bytes, at, statusFields[statuses[index]!]!);
  }
  return bytes.subarray(0, at);
}

/** Each difference with the stock before and after. Each starts with a comma. */
export function encodeDifferences(differences: DifferenceColumns): Uint8Array {
  const { count, petIds, before, after } = differences;
  const bytes = Buffer.allocUnsafeSlow(count * differenceBytesMax);
  const halves = halvesOf(petIds);
  let at = 0;
  for (let index = 0; index < count; index++) {
    bytes[at++] = comma;
    at = put(bytes, at, opening);
    at = putId(bytes, at, petIds, halves, index);
    at = putStock(bytes, put(bytes, at, beforeField), before, index);
    at = putStock(bytes, put(bytes, at, afterField), after, index);
    bytes[at++] = closingBrace;
  }
  return bytes.subarray(0, at);
}

function putStock(
  bytes: Uint8Array,
  start: number,
  { quantities, statuses }: StockColumns,
  index: number,
): number {
  const status = statuses[index]!;
  if (status === 0) return put(bytes, start, nothing);
  const at = putNumber(bytes, put(bytes, start, stockOpening), quantities[index]!);
  return put(bytes, at, statusFields[status]!);
}

/** Writes an id of up to 32 bits as a number, and any other from its BigInt. */
function putId(
  bytes: Uint8Array,
  at: number,
  petIds: BigInt64Array,
  halves: Int32Array,
  index: number,
): number {
  if (halves[2 * index + highHalf] === 0) {
    return putNumber(bytes, at, halves[2 * index + lowHalf]! >>> 0);
  }
  return putText(bytes, at, String(petIds[index]));
}

/** Writes a safe integer that is not negative. */
function putNumber(bytes: Uint8Array, start: number, value: number): number {
  let end = start + 1;
  for (let power = 10; power <= value; power *= 10) end += 1;
  let at = end - 1;
  let rest = value;
  // Integer arithmetic is faster, but only works on 32 bits.
  for (; rest > 0xffff_ffff; at--) {
    const digit = rest % 10;
    bytes[at] = zero + digit;
    rest = (rest - digit) / 10;
  }
  for (; at >= start; at--) {
    const tens = (rest / 10) >>> 0;
    bytes[at] = zero + (rest - tens * 10);
    rest = tens;
  }
  return end;
}

function putText(bytes: Uint8Array, start: number, text: string): number {
  for (let at = 0; at < text.length; at++) bytes[start + at] = text.charCodeAt(at);
  return start + text.length;
}

/** Faster than `set` for a few bytes. */
function put(bytes: Uint8Array, start: number, fragment: Uint8Array): number {
  for (let at = 0; at < fragment.length; at++) bytes[start + at] = fragment[at]!;
  return start + fragment.length;
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text));
}
