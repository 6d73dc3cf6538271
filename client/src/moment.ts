/** A time: a Date, or RFC 3339 text such as `2026-11-15T10:00:00Z`. */
export type Instant = Date | string;

/** A point in the history of the stock: a time, or the `seq` of a ledger row. */
export type Moment = Instant | number | bigint;

export function formatMoment(name: string, moment: Moment): string {
  if (typeof moment === "number" || typeof moment === "bigint") return formatSeq(name, moment);
  return formatInstant(name, moment);
}

/** The service checks the text of an instant, but text without a digit can change the path. */
export function formatInstant(name: string, instant: Instant): string {
  if (instant instanceof Date && !Number.isNaN(instant.getTime())) return instant.toISOString();
  if (typeof instant === "string" && /^\d/.test(instant)) return instant;
  throw new TypeError(`${name} must be a valid Date, or text such as 2026-11-15T10:00:00Z`);
}

export function formatSeq(name: string, seq: number | bigint): string {
  const number = typeof seq === "bigint" ? Number(seq) : seq;
  if (Number.isSafeInteger(number) && number >= 0) return String(seq);
  throw new RangeError(`${name} must be the seq of a ledger row, such as 42, not ${seq}`);
}
