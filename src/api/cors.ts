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

export type CorsHeaders = (request: Request, route: Route | undefined) => Record<string, string>;

/** Cross-origin headers, for the configured origins only; none are sent until there are some. */
export function createCors(origins: readonly string[]): CorsHeaders | undefined {
  if (origins.length === 0) return undefined;
  const any = origins.includes("*");
  return (request, route) => {
    const origin = request.headers.get("origin");
    const headers: Record<string, string> = any ? {} : { Vary: "Origin" };
    if (origin === null || !(any || origins.includes(origin))) return headers;
    headers["Access-Control-Allow-Origin"] = any ? "*" : origin;
    headers["Access-Control-Expose-Headers"] = exposed;
    if (request.method === "OPTIONS" && request.headers.has("access-control-request-method")) {
      headers["Access-Control-Allow-Methods"] = route?.allow ?? "";
      headers["Access-Control-Allow-Headers"] =
        "Authorization, Content-Type, If-None-Match, Idempotency-Key";
      headers["Access-Control-Max-Age"] = "600";
    }
    return headers;
  };
}
