// JSON with exact 64-bit ids, in both directions.

/** A parsed JSON value. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** Integers of up to 15 digits are exact as numbers; a 64-bit integer has at most 19 digits. */
const longId = /((?:petId|id)"\s*:\s*)(-?[1-9]\d{15,18})(?![\d.eE])/g;

/**
 * Parses JSON like `JSON.parse`, but returns ids of 16 or more digits as strings. `JSON.parse` rounds
 * numbers above 2^53, and Node 20 does not give a reviver the original digits (`context.source`).
 *
 * The pattern never matches inside a string: a letter, a quote and a colon in a row always end a key,
 * because a quote inside a string follows a backslash.
 */
export function parseWithLongIds(text: string): Json {
  return JSON.parse(text.replace(longId, '$1"$2"'));
}

const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };

/**
 * A replacer for `JSON.stringify` that writes a bigint as a JSON number with all its digits.
 *
 * Without `JSON.rawJSON`, as on Node 20, a bigint above 2^53 becomes a string, because a number would
 * be rounded.
 */
export function jsonReplacer(_key: string, value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  return rawJSON === undefined ? String(value) : rawJSON(String(value));
}

const toJson = {
  value(this: object): object {
    const fields = Object.entries(this).map(([name, value]) => [name, jsonReplacer(name, value)]);
    return Object.fromEntries(fields);
  },
};

/**
 * Adds a hidden `toJSON`, so that `JSON.stringify` accepts an object with ids. Loops over the fields
 * and deep comparisons do not see it. A method on a prototype would break `assert.deepStrictEqual`,
 * which compares prototypes.
 */
export function withToJson<T extends object>(object: T): T {
  return Object.defineProperty(object, "toJSON", toJson);
}
