import { invalidRequest } from "../../domain/running/errors.ts";
import {
  findRepeatedField,
  isJsonObject,
  JsonNumber,
  parseJson,
} from "../../domain/values/json.ts";
import { findNearest } from "../../domain/values/nearest.ts";
import { bodyRequired, invalidJson } from "./error-messages.ts";
import type { IncomingRequest } from "./requests.ts";

/**
 * What a client has sent, by name. In a body, numbers are JsonNumbers, so that no digit of an id is lost.
 * Parameters of the path and the query are texts.
 */
export type Fields = Readonly<Record<string, unknown>>;

const objectBodyRequired = "The body must be a JSON object.";

/** The messages of bodies that are not valid, whatever they should contain. */
export const bodyMessages = {
  body_required: bodyRequired,
  invalid_json: invalidJson,
  object_required: objectBodyRequired,
};

/** Undefined for a field that was not sent. */
export function given(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** The text of a parameter. A tool gets the same parameter as a value of JSON. */
export function textOf(fields: Fields, name: string): string | undefined {
  const value = given(fields, name);
  if (value === undefined) return undefined;
  return value instanceof JsonNumber ? value.source : String(value);
}

/** The query, cut from the URL. With an invalid Host header, request.url cannot be parsed as a URL. */
export function queryOf({ url }: IncomingRequest): URLSearchParams {
  const mark = url.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : url.slice(mark));
}

export function singleValue(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw invalidRequest(`Query parameter '${name}' must not be repeated.`);
  return values[0];
}

/** The parameters of the path and the query. */
export function parametersIn(request: IncomingRequest): Fields {
  const query = queryOf(request);
  const sent = [...query.keys()].map((name) => [name, singleValue(query, name)]);
  return { ...Object.fromEntries(sent), ...request.params };
}

/** The fields of a body, which must be a JSON object with known names. */
export function parseFields(text: string, known: readonly string[]): Fields {
  const body = parseBody(text);
  if (!isJsonObject(body)) throw invalidRequest(objectBodyRequired);
  for (const name of Object.keys(body)) rejectUnknownField(name, known);
  return body;
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

export function parseAnyBody(text: string, parse = parseJson): unknown {
  try {
    return parse(text);
  } catch {
    throw invalidRequest(invalidJson);
  }
}

/** The names that requests to an operation can use. */
export interface KnownNames {
  readonly query: readonly string[];
  /** The fields of the body, if it is a JSON object. */
  readonly fields: readonly string[];
}

type Kind = "query parameter" | "field";

/** Characters of an unknown name that a message repeats. */
const charactersShown = 40;

/** Names the unknown one, and the one that the client probably meant, or else all. */
export function unknownName(kind: Kind, name: string, known: readonly string[]): string {
  const shown = shownName(name);
  const nearest = findNearest(name, known);
  if (nearest !== undefined) return `Unknown ${kind} '${shown}'. Did you mean '${nearest}'?`;
  if (known.length === 0) return `Unknown ${kind} '${shown}'. This operation has no ${kind}s.`;
  return `Unknown ${kind} '${shown}'. Known here: ${known.join(", ")}.`;
}

function shownName(name: string): string {
  const isLong = name.length > charactersShown;
  const start = isLong ? `${name.slice(0, charactersShown).toWellFormed()}…` : name;
  // Control characters could change what a terminal or a log shows.
  return start.replace(/\p{C}/gu, "\ufffd");
}

export const repeatedField = (name: string) => `Field '${shownName(name)}' must not be repeated.`;

/** Throws if an object of a body has a field twice. The text must be valid JSON. */
export function rejectRepeatedFields(text: string): void {
  const name = findRepeatedField(text);
  if (name !== undefined) throw invalidRequest(repeatedField(name));
}

/** Throws if the request has a query parameter that its operation does not know. */
export function rejectUnknownParameters({ url }: Request, { query }: KnownNames): void {
  const mark = url.indexOf("?");
  if (mark < 0) return;
  for (const name of new URLSearchParams(url.slice(mark)).keys()) {
    if (query.includes(name)) continue;
    throw invalidRequest(unknownName("query parameter", name, query));
  }
}

/** Throws if an object of the body has a field that its operation does not know. */
export function rejectUnknownField(name: string, known: readonly string[], place = ""): void {
  if (known.includes(name)) return;
  throw invalidRequest(place + unknownName("field", name, known));
}
