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
  "Idempotent-Replayed",
  "Content-Location",
  "Mcp-Session-Id",
  // Shows a client how far its clock is off.
  "Date",
].join(", ");

export type Cors = NonNullable<ReturnType<typeof createCors>>;

/** Chrome caches the response to a preflight for at most two hours. */
const maxAgeSeconds = 7_200;

/** Cross-origin headers for the configured origins. Undefined if none are configured. */
export function createCors(origins: readonly string[]) {
  if (origins.length === 0) return undefined;
  const any = origins.includes("*");
  const allowedOrigin = (request: Request): string | undefined => {
    const origin = request.headers.get("origin");
    return origin !== null && (any || origins.includes(origin)) ? origin : undefined;
  };
  return {
    /** The headers that show a browser what a page of the request's origin may send and read. */
    headersFor(request: Request, route: Route | undefined): Record<string, string> {
      const origin = allowedOrigin(request);
      const headers: Record<string, string> = any ? {} : { Vary: "Origin" };
      if (origin === undefined) return headers;
      headers["Access-Control-Allow-Origin"] = any ? "*" : origin;
      headers["Access-Control-Expose-Headers"] = exposed;
      if (request.method === "OPTIONS" && request.headers.has("access-control-request-method")) {
        headers["Access-Control-Allow-Methods"] = route?.allow ?? "";
        headers["Access-Control-Allow-Headers"] =
          "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Change-Reason, Last-Event-ID, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name";
        headers["Access-Control-Max-Age"] = String(maxAgeSeconds);
      }
      return headers;
    },
    /** Whether this is the preflight of an allowed origin for an operation that exists. */
    isPreflight(request: Request, route: Route | undefined): boolean {
      if (request.method !== "OPTIONS" || allowedOrigin(request) === undefined) return false;
      const method = request.headers.get("access-control-request-method");
      return method !== null && route?.operations.has(method) === true;
    },
  };
}
