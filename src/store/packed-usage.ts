import type { Row } from "./rows.ts";

/**
 * Stores and backups of 0.7.0 to 0.9.0 have the table `usage_history`. Each of its rows packs the 60
 * minutes of an hour or the days of a month. For every minute or day with requests it has three numbers:
 * the empty ones before it, the admitted and the refused requests. Each byte holds seven bits of a
 * number, the lowest first, and its eighth bit is set if more follow.
 */
export const packedColumns = "key_id, span, start, counts";

const slots: Readonly<Record<string, { step: string; stepMs: number; count: number }>> = {
  hour: { step: "minute", stepMs: 60_000, count: 60 },
  month: { step: "day", stepMs: 86_400_000, count: 31 },
};

/** The rows of `usage_points` for a packed row. Leaves out what cannot be read. */
export function unpackUsage([keyId, span, start, counts]: Row): Row[] {
  const { step, stepMs, count } = slots[span as string] ?? slots.hour!;
  const numbers = readNumbers(counts as Uint8Array);
  const rows: Row[] = [];
  let slot = -1;
  for (let at = 0; at + 2 < numbers.length; at += 3) {
    slot += numbers[at]! + 1;
    if (slot >= count) break;
    rows.push([keyId, step, Number(start) + slot * stepMs, numbers[at + 1], numbers[at + 2]]);
  }
  return rows;
}

function readNumbers(bytes: Uint8Array): readonly number[] {
  const numbers: number[] = [];
  let number = 0;
  let unit = 1;
  for (const byte of bytes) {
    number += (byte % 128) * unit;
    if (!Number.isSafeInteger(number)) break;
    unit *= 128;
    if (byte >= 128) continue;
    numbers.push(number);
    number = 0;
    unit = 1;
  }
  return numbers;
}
