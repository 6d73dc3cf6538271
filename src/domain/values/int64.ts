/**
 * Integers, checked by the digits as they were written. A JavaScript number would round 2^53+1 and
 * 5.0000000000000000001 before any rule could be applied.
 */

export const int64Min = -9223372036854775808n;
export const int64Max = 9223372036854775807n;

/** The canonical decimal form, without the check of the range. */
export const int64Pattern = "(?:0|-?[1-9][0-9]{0,18})";
const canonicalInteger = new RegExp(`^${int64Pattern}$`);

/** Parses the canonical decimal form of a signed 64-bit integer: no plus, no leading zero. */
export function parseInt64(text: string): bigint | undefined {
  if (!canonicalInteger.test(text)) return undefined;
  const value = BigInt(text);
  // A number of fewer digits is in the range.
  if (text.length < digitsMax) return value;
  return value >= int64Min && value <= int64Max ? value : undefined;
}

const shortInteger = /^-?[0-9]{1,15}$/;

/** Reads the source text of a JSON number. Returns undefined unless it is a safe integer. */
export function safeIntegerAsWritten(source: string): number | undefined {
  // Most numbers are short and need no bigint. Adding 0 turns -0 into 0.
  if (shortInteger.test(source)) return Number(source) + 0;
  const integer = integerAsWritten(source);
  if (typeof integer !== "bigint" || !Number.isSafeInteger(Number(integer))) return undefined;
  return Number(integer);
}

const jsonNumber = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** Enough for every accepted integer. An integer with more digits is "huge". */
const digitsMax = 19;

/**
 * Reads the source text of a JSON number. Returns the integer, "fraction" if it is not an integer,
 * or "huge" if it is outside every accepted range. `5.0`, `5e0` and `50e-1` are 5. Exponents are
 * compared with the number of digits and never expanded, so `1e999999999` costs nothing.
 */
export function integerAsWritten(source: string): bigint | "fraction" | "huge" {
  const match = jsonNumber.exec(source);
  if (!match) return "fraction";
  const [, sign, whole = "", fraction = "", exponentText = "0"] = match;
  const digits = whole + fraction;
  // Not a regular expression: /0+$/ takes quadratic time on a body full of zeros.
  let start = 0;
  while (digits[start] === "0") start++;
  if (start === digits.length) return 0n;
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  const significant = digits.slice(start, end);
  const exponent = Number(exponentText) - fraction.length + (digits.length - end);
  if (exponent < 0) return "fraction";
  if (significant.length + exponent > digitsMax) return "huge";
  const magnitude = BigInt(significant + "0".repeat(exponent));
  return sign === "-" ? -magnitude : magnitude;
}
