import { invalidRequest } from "../../domain/running/errors.ts";
import { isJsonObject, JsonNumber, parseJson } from "../../domain/values/json.ts";
import { bodyRequired, invalidJson } from "./error-messages.ts";
import type { IncomingRequest } from "./requests.ts";
import { rejectRepeatedFields, rejectUnknownField } from "./unknown-names.ts";

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
