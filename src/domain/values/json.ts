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

/** The fields with these names, in this order. */
export function inOrder<T, K extends keyof T>(fields: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<T, K>;
}
