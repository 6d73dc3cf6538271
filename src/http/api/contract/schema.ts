import { quantityMax } from "../../../domain/ledger/inventory.ts";
import { seqMax } from "../../../domain/ledger/ledger.ts";
import { int64Max, int64Min } from "../../../domain/values/int64.ts";
import { exactInteger } from "../../../domain/values/json.ts";

/** The part of JSON Schema 2020-12 that the API uses. Plain data, serialized as is. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly default?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  /** On bodies of requests whose unknown fields are rejected. */
  readonly additionalProperties?: false;
  readonly examples?: readonly unknown[];
  /** Error codes with their statuses. Not an enum, because later versions can add codes. */
  readonly "x-error-codes"?: Readonly<Record<string, number>>;
}

/** Any signed 64-bit integer. */
export function int64(description: string): Schema {
  return {
    type: "integer",
    format: "int64",
    minimum: exactInteger(int64Min),
    maximum: exactInteger(int64Max),
    description,
  };
}

/**
 * An integer within bounds. Without the format, generators for Java, Kotlin, Go and Rust use 32
 * bits, and one large value makes a whole list unreadable.
 */
export function boundedInteger(minimum: number, maximum?: number): Schema {
  const upper = maximum === undefined ? {} : { maximum };
  return { type: "integer", format: "int64", minimum, ...upper };
}

export const integer = (minimum: number, maximum: number, description: string): Schema => ({
  ...boundedInteger(minimum, maximum),
  description,
});

export const orNull = (schema: Schema): Schema => ({
  ...schema,
  type: [String(schema.type), "null"],
});

export function reference(
  kind: "schemas" | "headers" | "parameters" | "responses" | "examples",
  name: string,
) {
  return { $ref: `#/components/${kind}/${name}` };
}

/** A named schema, or null. */
export function nullable(name: string, description: string): Schema {
  return { anyOf: [reference("schemas", name), { type: "null" }], description };
}

export const quantity = (description: string): Schema => integer(0, quantityMax, description);

/** A whole number that is not negative. */
export const number = (description: string): Schema =>
  integer(0, Number.MAX_SAFE_INTEGER, description);

export const seq = (description: string): Schema => integer(0, seqMax, description);

/** A field that is a named schema. */
export const named = (name: string, description: string): Schema => ({
  ...reference("schemas", name),
  description,
});

export const listOf = (name: string, description: string): Schema => ({
  type: "array",
  items: reference("schemas", name),
  description,
});

export const text = (description: string): Schema => ({ type: "string", description });

export const textOrNull = (description: string): Schema => orNull(text(description));

export const choice = (values: readonly string[], description: string): Schema => ({
  type: "string",
  enum: values,
  description,
});

export const flag = (description: string): Schema => ({ type: "boolean", description });

export const time = (description: string): Schema => ({
  type: "string",
  format: "date-time",
  description,
});

export const timeOrNull = (description: string): Schema => orNull(time(description));

export const petStatus = (description: string): Schema => named("PetStatus", description);

/**
 * An object in a response. Every listed field is present, except those of `optional`. Additional
 * fields are allowed: a later version can add some, and a client generated from this one must not
 * fail on them.
 */
export const responseObject = (
  description: string,
  properties: Record<string, Schema>,
  example: Record<string, unknown>,
  optional: readonly string[] = [],
): Schema => ({
  type: "object",
  description,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
  examples: [example],
});

/** An object in a request whose unknown fields are rejected. `rules` are about several fields. */
export const requestObject = (
  description: string,
  properties: Readonly<Record<string, Schema>>,
  example: Record<string, unknown>,
  required?: readonly string[],
  rules?: Pick<Schema, "anyOf" | "not" | "dependentRequired">,
): Schema => ({
  type: "object",
  description: `${description} Unknown fields are rejected.`,
  additionalProperties: false,
  ...(required && { required }),
  properties,
  ...rules,
  examples: [example],
});
