/** A time as RFC 3339 with milliseconds. Null for null and for Infinity, which both mean never. */
export function isoOrNull(time: number | null): string | null {
  return time === null || time === Infinity ? null : new Date(time).toISOString();
}
