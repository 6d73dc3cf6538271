import type { KnownNames } from "../../messages/fields.ts";
import type { DescribedCode } from "./errors.ts";
import type { HeaderId } from "./headers.ts";
import { reference, type Schema } from "./schema.ts";

export interface Example {
  /** One line that says what the example shows. */
  readonly summary: string;
  readonly value: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description: string;
  readonly schema: Schema;
  readonly example: unknown;
  /** Path parameters are always required. */
  readonly required?: true;
  /** What the service says about invalid values, by the name of the example. */
  readonly messages?: Messages;
}

/** Messages of errors, by the name of their example. */
export type Messages = Readonly<Record<string, string>>;

interface Body {
  readonly description: string;
  /** Absent if there is no body, or if it is not JSON. */
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, Example>>;
  /** The body in other media types, such as files. */
  readonly others?: Readonly<Record<string, OtherContent>>;
}

interface RequestBody extends Body {
  /** Whether the operation can do without a body. */
  readonly isOptional?: true;
}

/** A response other than an error. Error responses are generated from the error codes. */
export interface Success extends Body {
  readonly headers?: readonly HeaderId[];
  /** The body as a stream of events, which a client chooses with `Accept: text/event-stream`. */
  readonly events?: EventStream;
}

/** A body that is a named schema. */
export function json(
  description: string,
  name: string,
  more?: Partial<Omit<Success & RequestBody, "description" | "schema">>,
) {
  return { description, schema: reference("schemas", name), ...more };
}

/** A body that is an array of a named schema. */
export function jsonList(
  description: string,
  name: string,
  more?: Pick<Success, "headers" | "examples">,
) {
  return { description, schema: { type: "array", items: reference("schemas", name) }, ...more };
}

/** A body that is not JSON, or not only. */
export interface OtherContent {
  readonly schema: Schema;
  readonly examples: Readonly<Record<string, Example>>;
}

export interface EventStream extends OtherContent {
  /** The schema of the data of each kind of event. */
  readonly data: Readonly<Record<string, Schema>>;
}

/** The documentation of one operation, written for readers who are new to it. */
export interface Contract {
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly body?: RequestBody;
  readonly success: Readonly<Record<number, Success>>;
  /** Error codes with their usual messages, in addition to `commonErrors`. */
  readonly errors?: readonly DescribedCode[];
  /** Error codes with messages of their own. Those of parameters are added. */
  readonly messages?: Readonly<Partial<Record<DescribedCode, Messages>>>;
  /** Error codes whose body has `details`, with those of their examples. */
  readonly details?: Readonly<Partial<Record<DescribedCode, readonly object[]>>>;
  /** Descriptions that replace those of an error code. */
  readonly descriptions?: Readonly<Partial<Record<DescribedCode, string>>>;
}

/** Gives operations the tag under which the description lists them. */
export function tagged<Tag extends string, T extends Readonly<Record<string, object>>>(
  tag: Tag,
  operations: T,
) {
  const entries = Object.entries(operations).map(([id, one]) => [id, { ...one, tag }]);
  return Object.fromEntries(entries) as { [Id in keyof T]: T[Id] & { readonly tag: Tag } };
}

/** The names that a contract has. `schemas` has those that it refers to. */
export function namesIn(
  { parameters = [], body }: Pick<Contract, "parameters" | "body">,
  schemas: Readonly<Record<string, Schema>>,
): KnownNames {
  const query = parameters.filter((one) => one.in === "query").map(({ name }) => name);
  const schema = body?.schema && (findSchema(body.schema, schemas) ?? body.schema);
  return { query, fields: Object.keys(schema?.properties ?? {}) };
}

function findSchema(
  { $ref }: Schema,
  schemas: Readonly<Record<string, Schema>>,
): Schema | undefined {
  return $ref === undefined ? undefined : schemas[$ref.slice($ref.lastIndexOf("/") + 1)];
}

/** The errors of every operation. They occur before its handler runs, or in the store below it. */
export const commonErrors: readonly DescribedCode[] = [
  "unauthorized",
  "insufficient_scope",
  "rate_limit_exceeded",
  "key_banned",
  "internal_error",
  "unavailable",
];
