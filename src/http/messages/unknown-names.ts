import { invalidRequest } from "../../domain/running/errors.ts";
import { findRepeatedField } from "../../domain/values/json-scan.ts";
import { findNearest } from "../../domain/values/nearest.ts";

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
