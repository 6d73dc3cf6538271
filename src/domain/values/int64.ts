/**
 * Whole numbers, judged by the digits as they were written. A JavaScript number would round
 * 2^53+1 and 5.0000000000000000001 before any rule could look at them.
 */

export const int64Min = -9223372036854775808n;
export const int64Max = 9223372036854775807n;

const canonicalInteger = /^(?:0|-?[1-9][0-9]{0,18})$/;

/** The canonical decimal form of a signed 64-bit integer, or undefined: no plus, no leading zero. */
export function parseInt64(text: string): bigint | undefined {
  if (!canonicalInteger.test(text)) return undefined;
  const value = BigInt(text);
  return value >= int64Min && value <= int64Max ? value : undefined;
}

const jsonNumber = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** More digits than any integer we take; beyond it a value is only "too large". */
const digitsMax = 19;

/**
 * Reads a JSON number's source text: the integer it denotes, "fraction" when it denotes none,
 * "huge" when it is an integer outside every range we accept. `5.0`, `5e0` and `50e-1` are 5.
 * Exponents are compared as text lengths, never expanded, so `1e999999999` costs nothing.
 */
export function integerAsWritten(source: string): bigint | "fraction" | "huge" {
  const match = jsonNumber.exec(source);
  if (!match) return "fraction";
  const [, sign, whole = "", fraction = "", exponentText = "0"] = match;
  const digits = whole + fraction;
  // Loops, not patterns: /0+$/ takes quadratic time on a body full of zeros.
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
