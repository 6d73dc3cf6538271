const isoInstant =
  /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

const instantMin = Date.parse("0000-01-01T00:00:00.000Z");
const instantMax = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * A date, or a date and time with its offset from UTC, in milliseconds since 1970; undefined for
 * anything else. A time without an offset would mean another instant on every machine.
 */
export function parseInstant(text: string): number | undefined {
  if (!isoInstant.test(text)) return undefined;
  const time = Date.parse(text);
  // Date.parse takes 31 February for 3 March; the day written must be the day meant.
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  if (Number.isNaN(time) || Number.isNaN(day.getTime())) return undefined;
  // An offset can carry it out of the four-digit years, which is all that a timestamp can say.
  if (time < instantMin || time > instantMax) return undefined;
  return day.toISOString().startsWith(text.slice(0, 10)) ? time : undefined;
}

/** An instant as people read it, to the second; a part of a second counts as a whole one. */
export function formatInstant(time: number): string {
  return new Date(Math.ceil(time / 1_000) * 1_000).toISOString().replace(".000Z", "Z");
}
