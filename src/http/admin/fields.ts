import { InvalidField } from "../../domain/running/errors.ts";
import { JsonNumber } from "../../domain/values/json.ts";
import { parseInstant } from "../../domain/values/times.ts";
import { type Fields, given } from "../messages/fields.ts";

/**
 * Readers of the fields of a request. They return undefined for a field that is not given. They reject null,
 * unless they say otherwise.
 */

/** The same fields without those that are null, for a body in which null means not given. */
export function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** A reader of fields with one rule. `read` returns undefined for a value that breaks it. */
export function fieldReader<T>(rule: string, read: (value: unknown) => T | undefined) {
  return (fields: Fields, name: string): T | undefined => {
    const value = given(fields, name);
    if (value === undefined) return undefined;
    const result = read(value);
    if (result === undefined) throw new InvalidField(name, rule);
    return result;
  };
}

const isText = (value: unknown) => typeof value === "string";

export const textField = fieldReader("must be a string", (value) =>
  isText(value) ? value : undefined,
);

export const textListField = fieldReader("must be an array of strings", (value) =>
  Array.isArray(value) && value.every(isText) ? value : undefined,
);

export const flagField = fieldReader("must be true or false", (value) =>
  typeof value === "boolean" ? value : undefined,
);

/** Any integer that a JavaScript number holds exactly. */
export const integerField = fieldReader("must be an integer", (value) => {
  const integer = value instanceof JsonNumber ? value.toInteger() : undefined;
  const number = typeof integer === "bigint" ? Number(integer) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
});

/** A time in milliseconds since 1970. Null, if the field is null. */
export function timeField(fields: Fields, name: string): number | null | undefined {
  if (!Object.hasOwn(fields, name)) return undefined;
  const value = fields[name];
  if (value === null) return null;
  const time = typeof value === "string" ? parseInstant(value) : undefined;
  if (time !== undefined) return time;
  const rule = "must be a date or time in ISO 8601, such as 2027-01-31T00:00:00Z";
  throw new InvalidField(name, rule);
}

/** A year. A secret that is needed for longer should not be replaced. */
export const overlapSecondsMax = 31_536_000;
export const overlapRule = `must be an integer from 0 to ${overlapSecondsMax}`;

/** How long an old secret stays valid, in milliseconds. Undefined if the request does not say. */
export function readOverlapMs(fields: Fields): number | undefined {
  const seconds = integerField(fields, "overlapSeconds");
  if (seconds === undefined) return undefined;
  if (seconds >= 0 && seconds <= overlapSecondsMax) return seconds * 1_000;
  throw new InvalidField("overlapSeconds", overlapRule);
}
