import type { Operation } from "./api/operations.ts";
import { acceptPatch } from "./body.ts";

/** One path with every operation on it, and the headers its answers always carry. */
export interface Route {
  /** As the HTTP server's router spells it. */
  readonly pattern: string;
  readonly allow: string;
  readonly operations: ReadonlyMap<string, Operation>;
  readonly headers: Readonly<Record<string, string>>;
}

export const basePath = "/v1";

export function routesOf(operations: readonly Operation[], petsSunsetAt: number): Route[] {
  const byPath = Map.groupBy(operations, (operation) => operation.path);
  return [...byPath].map(([path, here]) => ({
    pattern: basePath + path.replace(/\{(\w+)\}/g, ":$1"),
    allow: here
      .flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]))
      .concat("OPTIONS")
      .join(", "),
    operations: new Map(
      here.flatMap((operation) =>
        operation.method === "GET"
          ? [
              ["GET", operation],
              ["HEAD", operation],
            ]
          : [[operation.method, operation]],
      ),
    ),
    headers: {
      ...deprecationHeaders(here, petsSunsetAt),
      ...(here.some(({ method }) => method === "PATCH") ? { "Accept-Patch": acceptPatch } : {}),
    },
  }));
}

/** RFC 9745 and RFC 8594: since when it is deprecated, until when it answers, and where to read. */
function deprecationHeaders(
  operations: readonly Operation[],
  sunsetAt: number,
): Record<string, string> {
  const deprecatedAt = operations.find((operation) => operation.deprecatedAt)?.deprecatedAt;
  if (deprecatedAt === undefined) return {};
  return {
    Deprecation: `@${deprecatedAt / 1000}`,
    Sunset: new Date(sunsetAt).toUTCString(),
    Link: '</docs>; rel="deprecation"; type="text/html", </docs>; rel="sunset"; type="text/html"',
  };
}
