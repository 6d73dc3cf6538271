import { quantityRule, readQuantity } from "../../domain/ledger/inventory.ts";
import { seqMax } from "../../domain/ledger/ledger.ts";
import { invalidRequest } from "../../domain/running/errors.ts";
import { parseInt64 } from "../../domain/values/int64.ts";
import { isJsonObject } from "../../domain/values/json.ts";
import { isReason, reasonCharactersMax, reasonRule } from "../../domain/values/texts.ts";
import { parseInstant } from "../../domain/values/times.ts";
import { type Fields, parseAnyBody, singleValue, textOf } from "../messages/fields.ts";
import { idempotencyKeyPattern, idempotencyKeyRule } from "../messages/headers.ts";
import { petIdRule } from "../messages/requests.ts";
import type { Parameter } from "./contract/contract.ts";
import { boundedInteger, int64 } from "./contract/schema.ts";

export const petIdParameter: Parameter = {
  name: "petId",
  in: "path",
  description: "The ID of the pet, in decimal digits without a plus sign or leading zeros.",
  schema: int64("The ID of a pet."),
  example: 7,
  messages: { invalid_petId: petIdRule },
};

/** A query parameter, and how its value is read. */
export interface QueryParameter<T> extends Parameter {
  /** The message about an invalid value. The API description shows it as an example. */
  readonly message: string;
  /** Returns undefined for a text that is not valid. */
  parse(text: string): T | undefined;
}

/** `rule` continues the sentence that starts with the parameter. */
export function queryParameter<T>({
  rule,
  ...given
}: Omit<QueryParameter<T>, "in" | "message" | "messages"> & {
  readonly rule: string;
}): QueryParameter<T> {
  const message = `Query parameter '${given.name}' ${rule}.`;
  return { ...given, in: "query", message, messages: { [`invalid_${given.name}`]: message } };
}

/** A query, or all fields of a request that changes something. */
export type Sent = URLSearchParams | Fields;

/** Returns undefined if the request does not have the parameter, unless it is required. */
export function readParameter<T>(
  sent: Sent,
  { name, required, message, parse }: QueryParameter<T>,
): T | undefined {
  const text = sent instanceof URLSearchParams ? singleValue(sent, name) : textOf(sent, name);
  if (text === undefined && !required) return undefined;
  const value = parse(text ?? "");
  if (value === undefined) throw invalidRequest(message);
  return value;
}

type Parameters = Readonly<Record<string, QueryParameter<unknown>>>;

/** The values of several parameters, by the names that the caller gives them. */
export function readParameters<P extends Parameters>(sent: Sent, parameters: P) {
  const values = Object.entries(parameters).map(([name, one]) => [name, readParameter(sent, one)]);
  return Object.fromEntries(values) as { [Name in keyof P]: ReturnType<P[Name]["parse"]> };
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** The value without the parameter. */
  readonly initial?: number;
}

/** Selects a page of a list by pet. An assistant may send the id as a text. */
export const afterPet = queryParameter({
  ...{ name: "after", description: "Only pets with a larger petId.", example: 7 },
  schema: { ...int64(""), type: ["integer", "string"] },
  rule: "must be a 64-bit integer",
  parse: parseInt64,
});

/** The bounds of the number of a ledger row. */
export const seqBounds: Bounds = { min: 0, max: seqMax };

export function integerParameter(
  name: string,
  { min, max, initial }: Bounds,
  description: string,
  example: number,
) {
  return queryParameter({
    name,
    description,
    schema: { ...boundedInteger(min, max), ...(initial !== undefined && { default: initial }) },
    example,
    rule: `must be an integer from ${min} to ${max}`,
    parse(text) {
      const value = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  });
}

/** A time in milliseconds since 1970. Rounded up, which does not move a row across it. */
export function instantParameter(name: string, description: string, example: string) {
  return queryParameter({
    name,
    description,
    schema: { type: "string", format: "date-time" },
    example,
    rule: "must be a date or time in ISO 8601, such as 2026-11-15T10:00:00Z. Write '+' as %2B",
    parse: (text) => parseInstant(text, "up"),
  });
}

/** One of several words. `initial` is the one without the parameter. */
export function choiceParameter<T extends string>(
  name: string,
  values: readonly T[],
  description: string,
  example: T,
  initial?: T,
) {
  return queryParameter({
    name,
    description,
    schema: { type: "string", enum: values, ...(initial && { default: initial }) },
    example,
    rule: `must be one of ${values.join(", ")}`,
    parse: (text) => values.find((one) => one === text),
  });
}

/** True or false, and false without the parameter. */
export function flagParameter(name: string, description: string) {
  return queryParameter({
    name,
    description,
    schema: { type: "boolean", default: false },
    example: true,
    rule: "must be true or false",
    parse: (text) => (text === "true" || text === "false" ? text === "true" : undefined),
  });
}

export const dryRun = flagParameter(
  "dryRun",
  "If true, nothing is changed, and the response lists what would change.",
);

export const tries = (fields: Fields) => readParameter(fields, dryRun) ?? false;

/** An id or another short name. Databases do not accept every string in a query. */
export function patternParameter(
  name: string,
  pattern: string,
  rule: string,
  description: string,
  example: string,
) {
  const valid = new RegExp(pattern);
  return queryParameter({
    name,
    description,
    schema: { type: "string", pattern },
    example,
    rule,
    parse: (text) => (valid.test(text) ? text : undefined),
  });
}

export const keyIdPattern = "^key_[0-9A-Za-z]{1,32}$";

const reasonHeaderRule = `Header 'X-Change-Reason' ${reasonRule}. It must be ASCII, with other characters percent-encoded as UTF-8 and % as %25.`;

export const reasonParameter: Parameter = {
  name: "X-Change-Reason",
  in: "header",
  description: `Why the stock changes, in at most ${reasonCharactersMax} characters. The ledger keeps it. Percent-encode characters outside ASCII as UTF-8, and \`%\` as \`%25\`. Control characters are rejected.`,
  schema: { type: "string", pattern: "^(?:[ -$&-~]|%[0-9A-Fa-f]{2})*$" },
  example: "Stocktake, shelf 4",
  messages: { invalid_reason: reasonHeaderRule },
};

/** Returns the reason in `X-Change-Reason`, or null if there is none. */
export function parseReason(header: string | null): string | null {
  if (header === null || header === "") return null;
  const reason = decoded(header);
  if (reason === undefined || !isReason(reason)) throw invalidRequest(reasonHeaderRule);
  return reason;
}

/** Undefined if the header is not ASCII, or its percent-encoding is not that of UTF-8. */
function decoded(header: string): string | undefined {
  if (!/^[ -~]*$/.test(header)) return undefined;
  if (!header.includes("%")) return header;
  try {
    return decodeURIComponent(header);
  } catch {
    return undefined;
  }
}

export const idempotencyKeyParameter: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "Makes the request safe to send again. Generate a new unique value, such as a UUID, for every change that you want to make, and send the same value with every attempt. A repeated request returns the result of the first one and changes nothing. The value is a string in quotes, or a token without quotes, of 1 to 255 characters. Each API key has its own values. Results are kept for 7 days unless the operator sets another time.",
  schema: { type: "string", pattern: idempotencyKeyPattern.source },
  example: '"5f0c1e9a-2b7d-4c6e-9a51-0d3f8e7b2c14"',
  messages: { invalid_idempotency_key: idempotencyKeyRule },
};

export const quantityInvalid = `Field 'quantity' ${quantityRule}.`;
export const quantityMissing = `Field 'quantity' is required and ${quantityRule}.`;
const objectRequired = "The body must be a JSON object with the field 'quantity'.";

/**
 * The body that nearly every client sends, matched without parsing. JSON has four kinds of white
 * space; \s would accept a no-break space too.
 */
const plainUpdate =
  /^[ \t\n\r]*\{[ \t\n\r]*"quantity"[ \t\n\r]*:[ \t\n\r]*(0|[1-9][0-9]{0,14})[ \t\n\r]*\}[ \t\n\r]*$/;

/** Returns the quantity in the body of a stock update. */
export function parseStockUpdate(text: string): number {
  const plain = plainUpdate.exec(text);
  if (plain) return Number(plain[1]);
  const body = parseAnyBody(text);
  if (!isJsonObject(body)) throw invalidRequest(objectRequired);
  if (!Object.hasOwn(body, "quantity")) throw invalidRequest(quantityMissing);
  const quantity = readQuantity(body.quantity);
  if (quantity === undefined) throw invalidRequest(quantityInvalid);
  return quantity;
}
