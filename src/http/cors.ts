import type { Route } from "./routes.ts";

const exposed = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "ETag",
  "X-Request-Id",
  "Link",
  "Deprecation",
  "Sunset",
  "X-Stability",
  // By it a client can tell how far its own clock is off.
  "Date",
].join(", ");

export interface Cors {
  /** The headers that tell a browser what a page of this request's origin may do and read. */
  headersFor(request: Request, route: Route | undefined): Record<string, string>;
  /** Whether a browser asks, on behalf of an allowed origin, about an operation that exists. */
  isPreflight(request: Request, route: Route | undefined): boolean;
}

/** Chrome keeps a preflight's answer for at most two hours. */
const maxAgeSeconds = 7_200;

/** Cross-origin headers, for the configured origins only; none are sent until there are some. */
export function createCors(origins: readonly string[]): Cors | undefined {
  if (origins.length === 0) return undefined;
  const any = origins.includes("*");
  const allowedOrigin = (request: Request): string | undefined => {
    const origin = request.headers.get("origin");
    return origin !== null && (any || origins.includes(origin)) ? origin : undefined;
  };
  return {
    headersFor(request, route) {
      const origin = allowedOrigin(request);
      const headers: Record<string, string> = any ? {} : { Vary: "Origin" };
      if (origin === undefined) return headers;
      headers["Access-Control-Allow-Origin"] = any ? "*" : origin;
      headers["Access-Control-Expose-Headers"] = exposed;
      if (request.method === "OPTIONS" && request.headers.has("access-control-request-method")) {
        headers["Access-Control-Allow-Methods"] = route?.allow ?? "";
        headers["Access-Control-Allow-Headers"] =
          "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key";
        headers["Access-Control-Max-Age"] = String(maxAgeSeconds);
      }
      return headers;
    },
    isPreflight(request, route) {
      if (request.method !== "OPTIONS" || allowedOrigin(request) === undefined) return false;
      const method = request.headers.get("access-control-request-method");
      return method !== null && route?.operations.has(method) === true;
    },
  };
}
