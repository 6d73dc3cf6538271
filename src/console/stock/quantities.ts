export const quantityRule = "Enter a whole number from 0 to 9,007,199,254,740,991.";
export const deltaRule = "Enter a whole number, such as 5 or -2.";

/** Reads digits, with or without separators between thousands. Undefined if it is not a quantity. */
export function parseQuantity(text: string): number | undefined {
  const digits = text.trim().replace(/(?<=\d)[ ,'\u00a0\u202f](?=\d{3}(?!\d))/g, "");
  if (!/^\d{1,16}$/.test(digits)) return undefined;
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : undefined;
}

const barcodeDigitsMin = 8;

/**
 * True if a quantity may be a scan into the wrong field, or a slip of the finger: it has 8 digits or more, it
 * repeats the id of its pet, or it differs from the stock by more than 10 and by more than half. An amount that
 * is added, or a pet without stock, has nothing to differ from.
 */
export function isDoubtful(text: string, petId: string, stock?: number): boolean {
  const digits = text.replace(/\D/g, "");
  const typed = Number(digits);
  const difference = stock === undefined ? 0 : Math.abs(typed - stock);
  return (
    digits.length >= barcodeDigitsMin ||
    (String(typed) === petId && typed !== stock) ||
    (difference > 10 && difference > stock! / 2)
  );
}

/** Reads a difference: a whole number with or without a sign. */
export function parseDelta(text: string): number | undefined {
  const trimmed = text.trim().replace(/^[−–]/, "-");
  const isNegative = trimmed.startsWith("-");
  const value = parseQuantity(trimmed.replace(/^[+-]/, ""));
  return value === undefined ? undefined : isNegative ? -value : value;
}

/** Reads `+2` and `−2`, which are added to a quantity. Undefined if there is no sign. */
export function parseAddition(text: string): number | undefined {
  return /^\s*[+−–-]/.test(text) ? parseDelta(text) : undefined;
}
