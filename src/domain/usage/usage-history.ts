import { dayMs, minuteMs } from "../limits/limits.ts";

/**
 * How many requests each key sent, over time: per minute for a day and per day for a year. Only charts
 * use these counts, so a crash may lose the last seconds of them.
 *
 * One stored row has an hour of minutes or a month of days, of which only those with requests take
 * space. A key that sends a few requests in every minute takes 0.3 kB per hour and 0.2 kB per month: at
 * most 25 rows of hours and 14 of months, 10 kB in all. A key that is used for one hour a day takes
 * less than 2 kB.
 */

export type Span = "hour" | "month";

/** The key of requests without a valid key. */
export const withoutKey = "";

/** The key of the sum of all keys, so that no reader has to add them up. */
export const allKeys = "*";

/** Requests of one key in one minute. */
export interface UsageCount {
  readonly keyId: string;
  /** Any time in the minute, in milliseconds since 1970. */
  readonly at: number;
  readonly admitted: number;
  readonly refused: number;
}

/** The counts of all slots of a row. */
export interface SlotCounts {
  readonly admitted: number[];
  readonly refused: number[];
}

/** A row of counts. `start` is the beginning of the UTC hour or month, in milliseconds since 1970. */
export interface SpanCounts {
  readonly keyId: string;
  readonly span: Span;
  readonly start: number;
  readonly counts: SlotCounts;
}

/** Stores counts, so that they survive a restart and include every instance. */
export interface UsageHistoryStore {
  /** Adds counts to those that are stored, by this instance or another. */
  addCounts(rows: readonly SpanCounts[]): Promise<void>;
  /** The rows of a key that start at a time or later, in order. */
  readCounts(keyId: string, span: Span, from: number): Promise<readonly SpanCounts[]>;
  /** Removes rows that start before these times. */
  pruneCounts(hoursBefore: number, monthsBefore: number): Promise<void>;
}

const hourMs = 60 * minuteMs;

export const slotsOf: Readonly<Record<Span, number>> = { hour: 60, month: 31 };

/** The row and the slot of a time. */
export function slotAt(
  span: Span,
  time: number,
): { readonly start: number; readonly slot: number } {
  if (span === "hour") {
    const start = time - (time % hourMs);
    return { start, slot: Math.floor((time - start) / minuteMs) };
  }
  const date = new Date(time);
  const start = Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  return { start, slot: Math.floor((time - start) / dayMs) };
}

export function emptyCounts(span: Span): SlotCounts {
  const slots = slotsOf[span];
  return { admitted: Array(slots).fill(0), refused: Array(slots).fill(0) };
}

/**
 * The rows that counts belong to: those of their keys, and those of all keys together. Sorted, so that
 * instances that add to the same rows cannot deadlock.
 */
export function toSpanCounts(counts: readonly UsageCount[]): readonly SpanCounts[] {
  const rows = new Map<string, SpanCounts>();
  const add = (keyId: string, span: Span, { at, admitted, refused }: UsageCount) => {
    const { start, slot } = slotAt(span, at);
    const id = `${keyId} ${span} ${start}`;
    const row = rows.get(id) ?? { keyId, span, start, counts: emptyCounts(span) };
    rows.set(id, row);
    row.counts.admitted[slot] = sum(row.counts.admitted[slot]!, admitted);
    row.counts.refused[slot] = sum(row.counts.refused[slot]!, refused);
  };
  for (const one of counts) {
    for (const span of ["hour", "month"] as const) {
      add(one.keyId, span, one);
      if (one.keyId !== withoutKey) add(allKeys, span, one);
    }
  }
  return [...rows.values()].sort(compareRows);
}

function compareRows(one: SpanCounts, other: SpanCounts): number {
  if (one.keyId !== other.keyId) return one.keyId < other.keyId ? -1 : 1;
  if (one.span !== other.span) return one.span < other.span ? -1 : 1;
  return one.start - other.start;
}

/** Adds counts to stored ones. Stored counts that cannot be read count as none. */
export function mergeCounts(
  stored: Uint8Array | undefined,
  span: Span,
  { admitted, refused }: SlotCounts,
): Uint8Array {
  const before = (stored && unpackCounts(stored, span)) ?? emptyCounts(span);
  return packCounts({
    admitted: before.admitted.map((count, slot) => sum(count, admitted[slot]!)),
    refused: before.refused.map((count, slot) => sum(count, refused[slot]!)),
  });
}

function sum(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

/**
 * Packs counts: for every slot with requests, the number of empty slots before it, the admitted and
 * the refused requests. Each number has seven bits in a byte, the lowest first, and the eighth bit is
 * set if more follow.
 */
export function packCounts({ admitted, refused }: SlotCounts): Uint8Array {
  const bytes: number[] = [];
  let empty = 0;
  for (let slot = 0; slot < admitted.length; slot++) {
    if (admitted[slot] === 0 && refused[slot] === 0) {
      empty += 1;
      continue;
    }
    for (const number of [empty, admitted[slot]!, refused[slot]!]) pushNumber(bytes, number);
    empty = 0;
  }
  return Uint8Array.from(bytes);
}

/** Without bit operations, which cut a number to 32 bits. */
function pushNumber(bytes: number[], number: number): void {
  let rest = number;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** Returns undefined for bytes that `packCounts` cannot have made. */
export function unpackCounts(bytes: Uint8Array, span: Span): SlotCounts | undefined {
  const numbers = readNumbers(bytes);
  if (!numbers || numbers.length % 3 !== 0) return undefined;
  const counts = emptyCounts(span);
  let slot = -1;
  for (let at = 0; at < numbers.length; at += 3) {
    slot += numbers[at]! + 1;
    if (slot >= slotsOf[span]) return undefined;
    counts.admitted[slot] = numbers[at + 1]!;
    counts.refused[slot] = numbers[at + 2]!;
  }
  return counts;
}

function readNumbers(bytes: Uint8Array): readonly number[] | undefined {
  const numbers: number[] = [];
  let number = 0;
  let unit = 1;
  for (const byte of bytes) {
    number += (byte % 128) * unit;
    if (!Number.isSafeInteger(number)) return undefined;
    unit *= 128;
    if (byte >= 128) continue;
    numbers.push(number);
    number = 0;
    unit = 1;
  }
  return unit === 1 ? numbers : undefined;
}

/** How long rows are kept: a little more than charts show. */
const hoursKeptMs = 25 * hourMs;
const monthsKeptMs = 400 * dayMs;

/** The starts of the oldest rows that are kept. */
export function oldestKept(now: number): { readonly hour: number; readonly month: number } {
  return {
    hour: slotAt("hour", Math.max(0, now - hoursKeptMs)).start,
    month: slotAt("month", Math.max(0, now - monthsKeptMs)).start,
  };
}

/** The points of a chart, the last of which is the current one. */
export interface UsageSeries extends SlotCounts {
  /** The time of the first point. */
  readonly from: number;
}

/** A chart of minutes or days. */
export type Step = "minute" | "day";
export const steps: readonly Step[] = ["minute", "day"];

const stepRules = {
  minute: { span: "hour", stepMs: minuteMs, points: 1_440 },
  day: { span: "month", stepMs: dayMs, points: 396 },
} as const;

/** Which rows the chart of a moment needs. */
export function rowsForSeries(
  step: Step,
  now: number,
): { readonly span: Span; readonly from: number } {
  const { span } = stepRules[step];
  return { span, from: slotAt(span, seriesStart(step, now)).start };
}

/** Never before 1970, even if the clock is wrong. */
function seriesStart(step: Step, now: number): number {
  const { stepMs, points } = stepRules[step];
  return Math.max(0, now - (now % stepMs) - (points - 1) * stepMs);
}

/** Makes a chart of rows. Several rows may have counts of the same slot. */
export function toSeries(rows: readonly SpanCounts[], step: Step, now: number): UsageSeries {
  const { stepMs, points } = stepRules[step];
  const from = seriesStart(step, now);
  const admitted: number[] = Array(points).fill(0);
  const refused: number[] = Array(points).fill(0);
  for (const { start, counts } of rows) {
    for (let slot = 0; slot < counts.admitted.length; slot++) {
      const point = (start - from) / stepMs + slot;
      if (point < 0 || point >= points) continue;
      admitted[point] = sum(admitted[point]!, counts.admitted[slot]!);
      refused[point] = sum(refused[point]!, counts.refused[slot]!);
    }
  }
  return { from, admitted, refused };
}
