import { unexpectedResponse } from "./body.js";
import type { ApiError } from "./errors.js";

const unknownHost = "an unknown host";

/**
 * Returns the error for a redirect, or for a response that a custom `fetch` got by following one. The
 * client does not follow redirects: the API key must not reach another host, and a response of
 * another host does not prove that an update was applied.
 */
export function findRedirect(response: Response, url: string): ApiError | undefined {
  const target = findTarget(response, url);
  if (target === undefined) return undefined;
  const { status, headers } = response;
  return unexpectedResponse(
    { status, headers, text: "" },
    `The response with status ${status} redirects to ${target}. The client does not follow redirects; pass the final URL as baseUrl`,
  );
}

function findTarget(response: Response, url: string): string | undefined {
  const { status, type, redirected } = response;
  if (redirected) return originOf(response.url, url);
  // Browsers hide the status and the target of a redirect.
  if (type === "opaqueredirect") return unknownHost;
  if (status < 300 || status > 399 || status === 304) return undefined;
  const location = response.headers.get("location");
  return location === null ? unknownHost : originOf(location, url);
}

function originOf(target: string, base: string): string {
  return URL.canParse(target, base) ? new URL(target, base).origin : unknownHost;
}
