import type { MaybePromise } from "../../domain/running/clock.ts";
import { invalidHost, methodNotAllowed } from "../messages/error-messages.ts";
import { errorReply } from "../messages/errors.ts";
import type { PublicOrigin } from "../messages/public-origin.ts";
import type { Reply } from "../messages/reply.ts";
import { hasValidHost, nextRequestId } from "../messages/requests.ts";
import type { Connections } from "../pipeline/operation.ts";
import { type AddressLimiter, rateLimitError } from "../pipeline/rate-limits.ts";
import { jsonHeaders } from "../pipeline/routes.ts";

/**
 * A resource outside every surface: the API reference, a health check. `origin` says where the client
 * reaches the service.
 */
export type Page = (request: Request, origin: PublicOrigin) => MaybePromise<Response>;
/** By path. */
export type Pages = Readonly<Record<string, Page>>;

/** Returns 400 instead of the page if the request has an invalid Host, or two. */
export function withValidHost(page: Page): Page {
  return (request, origin) =>
    hasValidHost(request.headers)
      ? page(request, origin)
      : toResponse(errorReply("invalid_request", invalidHost));
}

/** Returns the page to GET and HEAD, within the rate limit of the client's address. */
export function readPage(
  page: Page,
  request: Request,
  limiter: Pick<AddressLimiter, "take">,
  { addressOf, origin }: Pick<Connections, "addressOf" | "origin">,
): MaybePromise<Response> {
  const decision = limiter.take(addressOf(request));
  if (decision.outcome !== "admitted") return toResponse(rateLimitError(decision));
  if (request.method === "GET" || request.method === "HEAD") return page(request, origin);
  const allow = "GET, HEAD";
  return toResponse(errorReply("method_not_allowed", methodNotAllowed(allow), { Allow: allow }));
}

/** An error outside every surface. */
export function toResponse({ status, body, headers }: Reply): Response {
  const all = { ...jsonHeaders, ...headers, "X-Request-Id": nextRequestId() };
  return new Response(body, { status, headers: all });
}

/** A page loads files from and sends requests to this service only, and cannot be framed. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // Scripts cannot parse a text as HTML or as code.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** The headers of every page and of every file that a page loads. */
export const pageHeaders = {
  "Content-Security-Policy": contentSecurityPolicy,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};
