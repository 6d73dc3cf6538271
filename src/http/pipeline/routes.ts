import { createTemplate } from "../messages/headers.ts";
import type { Deprecation, Operation, RoutedOperation } from "./operation.ts";
import { fullIdOf, type Surface } from "./surface.ts";

/** One path of a surface, with all its operations. */
export interface Route {
  /** The path as Bun's router spells it. */
  readonly pattern: string;
  /** The value of the header Allow. */
  readonly allow: string;
  /** By method. HEAD has the operation of GET. */
  readonly operations: ReadonlyMap<string, RoutedOperation>;
  /** The headers of responses that belong to no operation: OPTIONS, and methods that give 405. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The headers of responses on paths that do not exist. All other routes add to them. */
export const jsonHeaders = { "Content-Type": "application/json" };

export function routesOf(surface: Omit<Surface, "authenticator">): Route[] {
  const { basePath, operations, headers: fixed } = surface;
  const byPath = Map.groupBy(operations, ({ path }) => path);
  return [...byPath].map(([path, here]) => {
    const shared = { ...jsonHeaders, ...fixed, ...acceptHeaders(here) };
    const routed = here.map((operation): RoutedOperation => {
      const headers = { ...shared, ...operationHeaders(operation) };
      const defaultTemplate = createTemplate(headers);
      const taggedTemplate = createTemplate(headers);
      const id = fullIdOf(surface, operation);
      return { ...operation, id, basePath, headers, defaultTemplate, taggedTemplate };
    });
    const byMethod = routed.flatMap((one) =>
      methodsOf(one).map((method) => [method, one] as const),
    );
    return {
      pattern: basePath + path.replace(/\{(\w+)\}/g, ":$1"),
      allow: [...byMethod.map(([method]) => method), "OPTIONS"].join(", "),
      operations: new Map(byMethod),
      headers: { ...shared, ...pathDeprecation(here) },
    };
  });
}

function methodsOf({ method }: Operation): readonly string[] {
  return method === "GET" ? ["GET", "HEAD"] : [method];
}

/** The header that lists the media types of a request body, for the methods that have one. */
const acceptHeaderOf: Readonly<Record<string, string>> = {
  /** RFC 5789 3.1 */
  PATCH: "Accept-Patch",
  /** Linked Data Platform 1.0, 7.1 */
  POST: "Accept-Post",
};

function acceptHeaders(operations: readonly Operation[]): Record<string, string> {
  return Object.fromEntries(
    operations.flatMap(({ method, body }) => {
      const name = acceptHeaderOf[method];
      return name && body ? [[name, body.mediaTypes.join(", ")]] : [];
    }),
  );
}

function operationHeaders(operation: Operation): Record<string, string> {
  const { method, stability, deprecation } = operation;
  // Caches may store a response but must revalidate it. Errors replace this with no-store.
  const cacheControl = operation.cacheControl ?? (method === "GET" ? "no-cache" : undefined);
  return {
    ...(deprecation ? deprecationHeaders(deprecation) : {}),
    ...(stability === "stable" ? {} : { "X-Stability": stability }),
    ...(cacheControl === undefined ? {} : { "Cache-Control": cacheControl }),
  };
}

/** A path is deprecated if all its operations are, until the sunset of the last one. */
function pathDeprecation(operations: readonly Operation[]): Record<string, string> {
  const all = operations.map(({ deprecation }) => deprecation);
  if (!all.every((one) => one !== undefined)) return {};
  return deprecationHeaders({
    since: Math.max(...all.map(({ since }) => since)),
    sunsetAt: Math.max(...all.map(({ sunsetAt }) => sunsetAt)),
  });
}

/** The dates of deprecation (RFC 9745) and sunset (RFC 8594), and links to their documentation. */
function deprecationHeaders({ since, sunsetAt }: Deprecation): Record<string, string> {
  return {
    Deprecation: `@${since / 1000}`,
    Sunset: new Date(sunsetAt).toUTCString(),
    Link: '</docs>; rel="deprecation"; type="text/html", </docs>; rel="sunset"; type="text/html"',
  };
}
