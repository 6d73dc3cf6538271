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

const accepted = "Authorization, Content-Type, If-None-Match, If-Match, Idempotency-Key";

/** Adds to an answer's headers what its reader in a browser has to know. */
export type CorsHeaders = (headers: Headers, request: Request, route: Route | undefined) => void;

/** Cross-origin headers, for the configured origins only; none are sent until there are some. */
export function createCors(origins: readonly string[]): CorsHeaders | undefined {
  if (origins.length === 0) return undefined;
  const any = origins.includes("*");
  return (headers, request, route) => {
    const origin = request.headers.get("origin");
    // Added, not set: the list already differs by coding.
    if (!any) headers.append("Vary", "Origin");
    if (origin === null || !(any || origins.includes(origin))) return;
    headers.set("Access-Control-Allow-Origin", any ? "*" : origin);
    headers.set("Access-Control-Expose-Headers", exposed);
    if (request.method === "OPTIONS" && request.headers.has("access-control-request-method")) {
      headers.set("Access-Control-Allow-Methods", route?.allow ?? "");
      headers.set("Access-Control-Allow-Headers", accepted);
      headers.set("Access-Control-Max-Age", "600");
    }
  };
}
