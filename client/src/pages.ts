import { unexpectedResponse } from "./body.js";
import { findNextLink } from "./link.js";
import type { RawResponse } from "./response.js";

/**
 * Reads the position of the next page from the `Link` header, or null on the last page. Only the
 * position is taken from the link, so the key is never sent to another host.
 */
export function readNextPosition(
  response: RawResponse,
  baseUrl: string,
  parameter: "after" | "before",
): string | null {
  const next = findNextLink(response.headers.get("link"), baseUrl);
  if (next === undefined) return null;
  const position = next.searchParams.get(parameter);
  if (position !== null && /^-?\d{1,19}$/.test(position)) return position;
  throw unexpectedResponse(response, `The link to the next page does not contain "${parameter}"`);
}

/** Builds a path with the parameters that have a value. */
export function pathWithQuery(
  path: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, value);
  }
  return `${path}?${query}`.replace(/\?$/, "");
}
