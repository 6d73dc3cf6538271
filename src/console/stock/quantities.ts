export const quantityRule = "Enter a whole number from 0 to 9,007,199,254,740,991.";

/** Reads digits, with or without separators between thousands. Undefined if it is not a quantity. */
export function parseQuantity(text: string): number | undefined {
  const digits = text.trim().replace(/(?<=\d)[ ,'\u00a0\u202f](?=\d{3}(?!\d))/g, "");
  if (!/^\d{1,16}$/.test(digits)) return undefined;
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Reads a difference: a whole number with or without a sign. */
export function parseDelta(text: string): number | undefined {
  const trimmed = text.trim().replace(/^[−–]/, "-");
  const isNegative = trimmed.startsWith("-");
  const value = parseQuantity(trimmed.replace(/^[+-]/, ""));
  return value === undefined ? undefined : isNegative ? -value : value;
}
