import type { MaybePromise } from "../../domain/running/clock.ts";
import { invalidHost, methodNotAllowed } from "../messages/error-messages.ts";
import { errorReply } from "../messages/errors.ts";
import { hasValidHost } from "../messages/host.ts";
import { nextRequestId } from "../messages/request-ids.ts";
import type { Reply } from "../pipeline/operation.ts";
import { type AddressLimiter, rateLimitError } from "../pipeline/rate-limits.ts";
import { jsonHeaders } from "../pipeline/routes.ts";

/** A resource outside every surface: the API reference, a health check. */
export type Page = (request: Request) => MaybePromise<Response>;
/** By path. */
export type Pages = Readonly<Record<string, Page>>;

/** Returns 400 instead of the page if the request has an invalid Host, or two. */
export function withValidHost(page: Page): Page {
  return (request) =>
    hasValidHost(request.headers)
      ? page(request)
      : toResponse(errorReply("invalid_request", invalidHost));
}

/** Returns the page to GET and HEAD, within the rate limit of the client's address. */
export function readPage(
  page: Page,
  request: Request,
  limiter: Pick<AddressLimiter, "take">,
  address: string,
): MaybePromise<Response> {
  const decision = limiter.take(address);
  if (decision.outcome !== "admitted") return toResponse(rateLimitError(decision));
  if (request.method === "GET" || request.method === "HEAD") return page(request);
  const allow = "GET, HEAD";
  return toResponse(errorReply("method_not_allowed", methodNotAllowed(allow), { Allow: allow }));
}

/** An error outside every surface. */
export function toResponse({ status, body, headers }: Reply): Response {
  const all = { ...jsonHeaders, ...headers, "X-Request-Id": nextRequestId() };
  return new Response(body, { status, headers: all });
}
