import { integerAsWritten } from "./int64.ts";

/** A number in a JSON text as it was written, so that no digit is lost before it is checked. */
export class JsonNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  /** JSON.stringify writes it as it was. */
  toJSON(): unknown {
    return exactInteger(this.source);
  }

  toInteger(): bigint | "fraction" | "huge" {
    return integerAsWritten(this.source);
  }
}

/**
 * JSON.parse with every number as a JsonNumber. Throws a SyntaxError for invalid JSON and for JSON
 * that is nested too deeply for the stack.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value, { source }) =>
      typeof value === "number" ? new JsonNumber(source ?? String(value)) : value,
    );
  } catch (error) {
    if (error instanceof RangeError) throw new SyntaxError("it is nested too deeply");
    throw error;
  }
}

/** The value of a JSON text. Undefined if the text is not JSON. Long integers lose digits. */
export function valueOfJson<T>(text: unknown): T | undefined {
  try {
    return JSON.parse(text as string);
  } catch {
    return undefined;
  }
}

/** The values in an object or a list of an imported file. Each takes 100 bytes, but only one in the text. */
export const valuesMax = 10_000;

/** Returns true if a JSON text has more values than that, also within each other. */
export function hasTooManyValues(text: string): boolean {
  let [values, inString] = [1, false];
  for (let at = 0; at < text.length && text.length > valuesMax; at++) {
    const code = text[at]!;
    if (code === '"') inString = !inString;
    else if (inString && code === "\\") at += 1;
    else if (!inString && ",[{".includes(code)) values += 1;
  }
  return values > valuesMax;
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonNumber)
  );
}

/** Written by JSON.stringify with all digits. A JavaScript number would round some of them. */
export function exactInteger(value: bigint | string): unknown {
  return JSON.rawJSON(String(value));
}

/** JSON in which a bigint is a number with all its digits. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === "bigint" ? exactInteger(one) : one));
}

/** The fields with these names, in this order. */
export function inOrder<T, K extends keyof T>(fields: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<T, K>;
}
