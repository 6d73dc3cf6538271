import { digestOfTexts } from "../../domain/ledger/idempotency.ts";
import { quantityRule, readQuantity } from "../../domain/ledger/inventory.ts";
import { seqMax } from "../../domain/ledger/ledger.ts";
import { invalidRequest } from "../../domain/running/errors.ts";
import type { WriteRequest } from "../../domain/shop/shop.ts";
import { parseInt64 } from "../../domain/values/int64.ts";
import { isJsonObject, parseJson } from "../../domain/values/json.ts";
import { isReason, reasonCharactersMax, reasonRule } from "../../domain/values/texts.ts";
import { parseInstant } from "../../domain/values/times.ts";
import { invalidJson } from "../messages/error-messages.ts";
import type { IncomingRequest } from "../messages/requests.ts";
import { rejectRepeatedFields } from "../messages/unknown-names.ts";
import type { Call } from "../pipeline/operation.ts";
import type { Parameter } from "./contract/contract.ts";
import { boundedInteger, int64 } from "./contract/schema.ts";

const petIdRule =
  "Path parameter 'petId' must be a 64-bit integer in decimal digits, without leading zeros.";

export const petIdParameter: Parameter = {
  name: "petId",
  in: "path",
  description: "The ID of the pet, in decimal digits without a plus sign or leading zeros.",
  schema: int64("The ID of a pet."),
  example: 7,
  messages: { invalid_petId: petIdRule },
};

export function readPetId({ params }: IncomingRequest): bigint {
  const petId = parseInt64(params?.petId ?? "");
  if (petId === undefined) throw invalidRequest(petIdRule);
  return petId;
}

/** The query, cut from the URL. With an invalid Host header, request.url cannot be parsed as a URL. */
export function queryOf({ url }: IncomingRequest): URLSearchParams {
  const mark = url.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : url.slice(mark));
}

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

/** Returns undefined if the request does not have the parameter, unless it is required. */
export function readParameter<T>(
  query: URLSearchParams,
  { name, required, message, parse }: QueryParameter<T>,
): T | undefined {
  const text = singleValue(query, name);
  if (text === undefined && !required) return undefined;
  const value = parse(text ?? "");
  if (value === undefined) throw invalidRequest(message);
  return value;
}

type Parameters = Readonly<Record<string, QueryParameter<unknown>>>;

/** The values of several parameters, by the names that the caller gives them. */
export function readParameters<P extends Parameters>(query: URLSearchParams, parameters: P) {
  const values = Object.entries(parameters).map(([name, one]) => [name, readParameter(query, one)]);
  return Object.fromEntries(values) as { [Name in keyof P]: ReturnType<P[Name]["parse"]> };
}

export function singleValue(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw invalidRequest(`Query parameter '${name}' must not be repeated.`);
  return values[0];
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** The value without the parameter. */
  readonly initial?: number;
}

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

/**
 * A string of RFC 9651 3.3.3: printable ASCII in quotes, with a backslash before `"` and `\`. Or a token of
 * 3.3.4, which may also start with a digit: many clients send a bare UUID.
 */
const idempotencyKey = /^(?:"(?:[ !#-[\]-~]|\\["\\]){1,255}"|[!#$%&'*+.^_`|~0-9A-Za-z:/-]{1,255})$/;

const idempotencyKeyRule = `Header 'Idempotency-Key' must be one quoted string of printable ASCII characters, or one token without quotes, with 1 to 255 characters.`;

export const idempotencyKeyParameter: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "Makes the request safe to send again. Generate a new unique value, such as a UUID, for every change that you want to make, and send the same value with every attempt. A repeated request returns the result of the first one and changes nothing. The value is a string in quotes, or a token without quotes, of 1 to 255 characters. Each API key has its own values. Results are kept for 7 days unless the operator sets another time.",
  schema: { type: "string", pattern: idempotencyKey.source },
  example: '"5f0c1e9a-2b7d-4c6e-9a51-0d3f8e7b2c14"',
  messages: { invalid_idempotency_key: idempotencyKeyRule },
};

/** Returns the key without quotes. A header that is sent twice arrives joined, and is invalid. */
function parseIdempotencyKey(header: string): string {
  if (!idempotencyKey.test(header)) throw invalidRequest(idempotencyKeyRule);
  return header[0] === '"' ? header.slice(1, -1).replaceAll(/\\(["\\])/g, "$1") : header;
}

/**
 * Identifies a request by its `Idempotency-Key`. Returns undefined if it has none. `path` and `body`
 * must be the same for every way to write the same request. The store keeps the digest for days, so a
 * release that derives them differently answers retries of older requests with 422.
 */
export function identifyRequest(
  { caller, operation }: Call,
  header: string | null,
  path: string,
  body: string,
): WriteRequest["idempotency"] {
  if (header === null) return undefined;
  return {
    key: digestOfTexts(caller.keyId, parseIdempotencyKey(header)),
    request: digestOfTexts(operation.method, path, body),
  };
}

/** On responses that repeat the result of an earlier request with the same `Idempotency-Key`. */
export const replayedHeaders = { "Idempotent-Replayed": "true" };

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

/**
 * Numbers are JsonNumbers, so that no digit is lost. A repeated field is rejected: nobody knows which value
 * was meant. Only the stock update takes the last one, as its specification allows.
 */
export function parseBody(text: string, parse: (text: string) => unknown = parseJson): unknown {
  const body = parseAnyBody(text, parse);
  rejectRepeatedFields(text);
  return body;
}

function parseAnyBody(text: string, parse = parseJson): unknown {
  try {
    return parse(text);
  } catch {
    throw invalidRequest(invalidJson);
  }
}
