import type { Verdict } from "../domain/limits.ts";
import type { MaybePromise } from "../domain/ports.ts";
import type { Answer } from "./call.ts";
import { errorAnswer } from "./errors.ts";
import { hasValidHost, hostRule } from "./host.ts";
import { denial } from "./rate-limits.ts";

/** What is served outside the API: the reference, health checks. */
export type Page = (request: Request) => MaybePromise<Response>;
export type Pages = Readonly<Record<string, Page>>;

/** Counts requests for pages by client address. */
export interface PageCount {
  take(address: string): Verdict;
}

/** Answers 400 in place of the page if the request names no host or two. */
export function withValidHost(page: Page): Page {
  return (request) =>
    hasValidHost(request.headers)
      ? page(request)
      : toResponse(errorAnswer("invalid_request", hostRule));
}

/** A page that can be read and nothing else, as often as its count allows. */
export function readPage(
  page: Page,
  request: Request,
  count: PageCount,
  address: string,
): MaybePromise<Response> {
  const verdict = count.take(address);
  if (verdict.outcome !== "admitted") return toResponse(denial(verdict));
  if (request.method === "GET" || request.method === "HEAD") return page(request);
  const allow = { Allow: "GET, HEAD" };
  const message = "Method not allowed. Use GET or HEAD.";
  return toResponse(errorAnswer("method_not_allowed", message, allow));
}

export function toResponse(answer: Answer): Response {
  const headers = { "Content-Type": "application/json", ...answer.headers };
  return new Response(answer.body, { status: answer.status, headers });
}
