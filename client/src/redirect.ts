import { unexpectedResponse } from "./body.js";
import type { ApiError } from "./errors.js";

const unknown = "an unknown host";

/**
 * The error for a response that redirects, or that a custom `fetch` got by following a redirect.
 * The client follows none: the key must not reach another host, and another host's word for an
 * update proves nothing.
 */
export function findRedirect(response: Response, url: string): ApiError | undefined {
  const target = findTarget(response, url);
  if (target === undefined) return undefined;
  const { status, headers } = response;
  return unexpectedResponse(
    { status, headers, text: "" },
    `The response with status ${status} redirects to ${target}. The client follows no redirect; pass the final address as baseUrl`,
  );
}

function findTarget(response: Response, url: string): string | undefined {
  const { status, type, redirected } = response;
  if (redirected) return originOf(response.url, url);
  // A browser shows neither the status nor the target.
  if (type === "opaqueredirect") return unknown;
  if (status < 300 || status > 399 || status === 304) return undefined;
  const location = response.headers.get("location");
  return location === null ? unknown : originOf(location, url);
}

function originOf(target: string, base: string): string {
  return URL.canParse(target, base) ? new URL(target, base).origin : unknown;
}
