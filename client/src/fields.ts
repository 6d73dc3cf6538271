import type { Json } from "./json.js";

// Checks the fields of parsed responses. Each error names the field and the rule.

/** An object from JSON.parse. No other code uses it, so ids are replaced in place, without a copy. */
export type Fields = { [key: string]: Json | bigint };

export function decodeList<T>(value: Json | undefined, decode: (item: Json) => T): T[] {
  if (!Array.isArray(value)) throw new TypeError("expected an array");
  return value.map((item) => decode(item));
}

export function readFields(value: Json | undefined): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError("expected an object");
  }
  return value as Fields;
}

/** The form of long ids after parseWithLongIds. */
const longDigits = /^-?\d{16,19}$/;

export function readId(value: Fields[string] | undefined, name: string): bigint {
  if (typeof value === "string" && longDigits.test(value)) return BigInt(value);
  checkInteger(value, name);
  return BigInt(value as number);
}

export function checkInteger(value: unknown, name: string): void {
  if (!Number.isSafeInteger(value)) fail(name, "an integer");
}

export function checkBoolean(value: unknown, name: string): void {
  if (typeof value !== "boolean") fail(name, "a boolean");
}

export function checkString(value: unknown, name: string): void {
  if (typeof value !== "string") fail(name, "a string");
}

export function checkStringOrNull(value: unknown, name: string): void {
  if (value !== null) checkString(value, name);
}

export function checkStrings(value: unknown, name: string): void {
  const isValid = Array.isArray(value) && value.every((item) => typeof item === "string");
  if (!isValid) fail(name, "an array of strings");
}

export function checkChoice(value: unknown, name: string, choices: readonly unknown[]): void {
  if (!choices.includes(value)) fail(name, `one of ${choices.join(", ")}`);
}

export function fail(name: string, rule: string): never {
  throw new TypeError(`${name} is not ${rule}`);
}
