const whole = new Intl.NumberFormat("en");

/** For example 12,500. */
export function formatCount(value: number): string {
  return whole.format(value);
}

/** A difference with its sign: a real minus sign, as wide as a plus. */
export function signed(difference: number): string {
  return difference < 0 ? `−${formatCount(-difference)}` : `+${formatCount(difference)}`;
}

/** The number of a change. Without separators, as people type it: #1207. */
export function changeNumber(seq: number): string {
  return `#${seq}`;
}

/** A count with its noun, for example "1 file" or "3 files". */
export function countOf(value: number, one: string, many = `${one}s`): string {
  return `${whole.format(value)} ${value === 1 ? one : many}`;
}

const spans = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** The largest unit that fits, for example "6 hours", and a second one where it matters. */
export function formatSeconds(seconds: number): string {
  const index = spans.findIndex(([unit, length]) => seconds >= length || unit === "second");
  const [unit, length] = spans[index]!;
  const first = countOf(Math.floor(seconds / length), unit);
  const [restUnit, restLength] = spans[index + 1] ?? ["second", Number.POSITIVE_INFINITY];
  const rest = Math.floor((seconds % length) / restLength);
  return rest > 0 ? `${first} ${countOf(rest, restUnit)}` : first;
}

/** A time that runs down, for example 3:21 or 1:03:21. */
export function formatCountdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  const twoDigits = (value: number) => String(value).padStart(2, "0");
  const rest = `${hours > 0 ? twoDigits(minutes) : minutes}:${twoDigits(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}

/** A word of the API as a label, for example "Available" for the status "available". */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
