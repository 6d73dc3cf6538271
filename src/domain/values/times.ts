export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

const clockTime = "(?:[01][0-9]|2[0-4]):[0-5][0-9](?::[0-5][0-9](?:\\.[0-9]+)?)?";

/** A date, or a date and time with an offset from UTC. The API description has it, too. */
export const instantPattern = `[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])(?:[Tt]${clockTime}(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]))?`;
const isoInstant = new RegExp(`^${instantPattern}$`);

const instantMin = Date.parse("0000-01-01T00:00:00.000Z");
const instantMax = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Parses a date, or a date and time with an offset from UTC, to whole milliseconds since 1970. Returns
 * undefined for anything else. A time without an offset would depend on the machine's time zone.
 * Many languages write microseconds or nanoseconds; they are rounded as told.
 */
export function parseInstant(text: string, rounding: "down" | "up" = "down"): number | undefined {
  if (!isoInstant.test(text)) return undefined;
  const millisecond = Date.parse(text.toUpperCase().replace(/(\.\d{3})\d+/, "$1"));
  const hasRest = /\.\d{3}\d*[1-9]/.test(text);
  const time = hasRest && rounding === "up" ? millisecond + 1 : millisecond;
  // Date.parse accepts 31 February as 3 March.
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  if (Number.isNaN(time) || Number.isNaN(day.getTime())) return undefined;
  // An offset can move the instant out of the years with four digits.
  if (time < instantMin || time > instantMax) return undefined;
  return day.toISOString().startsWith(text.slice(0, 10)) ? time : undefined;
}

/** Formats an instant as ISO 8601, rounded up to whole seconds. */
export function formatInstant(time: number): string {
  return new Date(Math.ceil(time / 1_000) * 1_000).toISOString().replace(".000Z", "Z");
}

/** An instant as ISO 8601 with milliseconds. Null for null and for Infinity. */
export function isoOrNull(time: number | null): string | null {
  return time === null || time === Infinity ? null : new Date(time).toISOString();
}

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: minuteMs, h: hourMs, d: dayMs };

/** Reads a duration such as 30m, 24h or 7d, in milliseconds. Returns undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const [, count, unit] = /^([0-9]{1,6})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * unitMs[unit!]!;
}
