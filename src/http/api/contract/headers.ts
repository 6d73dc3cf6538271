import { jsonTypes, mergePatchTypes } from "../../messages/requests.ts";
import { boundedInteger, type Schema } from "./schema.ts";

export interface Header {
  /** The header's name, if it differs from the id: one name can have two meanings and two ids. */
  readonly name?: string;
  readonly description: string;
  /** Whether only some of the responses that list the header have it. */
  readonly isOptional?: true;
  /** By default, any text. */
  readonly schema?: Schema;
  /** Absent if the header always has the same value. */
  readonly example?: string | number;
}

/** Every response header that the surfaces set, except those of HTTP itself. */
export const headers = {
  "X-RateLimit-Limit": {
    description:
      "The request limit of the current window: the minute or the day, whichever has fewer requests left.",
    schema: boundedInteger(0),
    example: 1000,
  },
  "X-RateLimit-Remaining": {
    description: "The number of requests left in the current window.",
    schema: boundedInteger(0),
    example: 999,
  },
  "X-RateLimit-Reset": {
    description:
      "When the current window resets, in Unix seconds. For a banned key, when the ban ends.",
    schema: boundedInteger(0),
    example: 1794744060,
  },
  RateLimit: {
    description:
      "The state of both windows, in the format of the IETF draft on RateLimit headers: `r` requests are left, and the window resets in `t` seconds. Without a valid key, there is only the minute window.",
    schema: { type: "string", pattern: '^"minute";r=[0-9]+;t=[0-9]+(, "day";r=[0-9]+;t=[0-9]+)?$' },
    example: '"minute";r=999;t=42, "day";r=99310;t=31242',
  },
  "RateLimit-Policy": {
    description: "The limits of both windows: `q` requests in `w` seconds.",
    schema: { type: "string", pattern: '^"minute";q=[0-9]+;w=60(, "day";q=[0-9]+;w=86400)?$' },
    example: '"minute";q=1000;w=60, "day";q=100000;w=86400',
  },
  "X-Request-Id": {
    description: "The ID of this request. Include it when you report a problem to the operator.",
    schema: { type: "string", pattern: "^req_[0-9a-z_]+$" },
    example: "req_5f0c1e9a2b7d_42",
  },
  "Cache-Control": {
    description: "Sent with errors. Caches must not store them.",
    schema: { type: "string", const: "no-store" },
  },
  CacheList: {
    name: "Cache-Control",
    description:
      "Sent with the inventory. A private cache can store it, but must revalidate it before each use.",
    schema: { type: "string", const: "private, no-cache" },
  },
  CacheCurrent: {
    name: "Cache-Control",
    description: "A cache can store the response, but must revalidate it before each use.",
    schema: { type: "string", const: "no-cache" },
  },
  CacheChanges: {
    name: "Cache-Control",
    description:
      "A cache can store a page, but must revalidate it before each use. Proxies must not compress or change the feed.",
    schema: { type: "string", enum: ["no-cache", "no-cache, no-transform"] },
    example: "no-cache",
  },
  "X-Accel-Buffering": {
    description: "Sent with the feed. Tells nginx to pass every event on at once.",
    isOptional: true,
    schema: { type: "string", const: "no" },
  },
  VaryAccept: {
    name: "Vary",
    description: "The form of the body depends on the request header `Accept`.",
    example: "Accept",
  },
  "Retry-After": {
    description: "How long to wait before the next request, in seconds.",
    schema: boundedInteger(1),
    example: 42,
  },
  "WWW-Authenticate": {
    description:
      'Sent with 401. Names the authentication scheme. Includes `error="invalid_token"` if the request had an invalid key.',
    schema: { type: "string", pattern: '^Bearer realm="petstore"(, error="invalid_token")?$' },
    example: 'Bearer realm="petstore", error="invalid_token"',
  },
  ScopeChallenge: {
    name: "WWW-Authenticate",
    description: "Sent with 403. Names the scope that the key needs (RFC 6750).",
    schema: {
      type: "string",
      pattern: '^Bearer realm="petstore", error="insufficient_scope", scope="[a-z:]+"$',
    },
    example: 'Bearer realm="petstore", error="insufficient_scope", scope="inventory:read"',
  },
  RoleChallenge: {
    name: "WWW-Authenticate",
    description: "Sent with `insufficient_scope`. Names the scope of the least role (RFC 6750).",
    isOptional: true,
    example: 'Bearer realm="petstore", error="insufficient_scope", scope="operator:clerk"',
  },
  ETag: {
    description:
      "The version of the list or of the entry. Send it in `If-None-Match` to get a 304 while nothing has changed. Send the version of an entry in `If-Match` to update the entry only if it has not changed.",
    schema: { type: "string", pattern: '^"[!#-~]+"$' },
    example: '"k3v9x2-1207"',
  },
  SnapshotETag: {
    name: "ETag",
    description:
      "The version of the snapshot or diff. For ledger rows and past times, it never changes. Send it in `If-None-Match` to get a 304.",
    schema: { type: "string", pattern: '^"[!#-~]+"$' },
    example: '"k3v9x2-1207"',
  },
  "Content-Location": {
    description:
      "The URL of the same content, with ledger rows instead of times. Unlike a time, a ledger row always means the same content.",
    example: "/v1/snapshots/1207",
  },
  Vary: {
    description: "The encoding of the body depends on the request header `Accept-Encoding`.",
    example: "Accept-Encoding",
  },
  VaryLong: {
    name: "Vary",
    description:
      "Sent with a long body. Its encoding depends on the request header `Accept-Encoding`.",
    isOptional: true,
    example: "Accept-Encoding",
  },
  "Content-Encoding": {
    description: "The compression of the body. Absent if the body is not compressed.",
    isOptional: true,
    schema: { type: "string", enum: ["zstd", "br", "gzip"] },
    example: "zstd",
  },
  "Accept-Encoding": {
    description:
      "Sent if the request body was compressed. Only uncompressed request bodies are supported.",
    isOptional: true,
    schema: { type: "string", const: "identity" },
  },
  "Accept-Patch": {
    description: "The media types that the request body can have.",
    isOptional: true,
    schema: { type: "string", const: mergePatchTypes.join(", ") },
  },
  "Accept-Post": {
    description: "The media types that the request body can have.",
    isOptional: true,
    schema: { type: "string", const: jsonTypes.join(", ") },
  },
  "Idempotent-Replayed": {
    description:
      "`true` if an earlier request with the same `Idempotency-Key` made the change, and this response repeats its result. Absent otherwise.",
    isOptional: true,
    schema: { type: "string", const: "true" },
  },
  "X-Stability": {
    description:
      "How stable the operation is: `experimental` operations can change without notice, `beta` operations with notice. Stable operations do not send this header.",
    isOptional: true,
    schema: { type: "string", enum: ["experimental", "beta"] },
    example: "experimental",
  },
  Deprecation: {
    description: "The date of the deprecation: `@` followed by Unix seconds (RFC 9745).",
    isOptional: true,
    schema: { type: "string", pattern: "^@[0-9]+$" },
    example: "@1767225600",
  },
  Sunset: {
    description: "The date from which the operation returns 410 (RFC 8594).",
    isOptional: true,
    schema: { type: "string", pattern: "^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} .* GMT$" },
    example: "Fri, 31 Dec 2027 00:00:00 GMT",
  },
  Link: {
    description:
      "Sent by deprecated operations. Contains links to the documentation of the deprecation and of the sunset (RFC 8288).",
    isOptional: true,
    example:
      '</docs>; rel="deprecation"; type="text/html", </docs>; rel="sunset"; type="text/html"',
  },
  NextPage: {
    name: "Link",
    description:
      'Sent with pages of orders and of changes. Contains the URL of the next page, with `rel="next"` (RFC 8288). Absent on the last page.',
    isOptional: true,
    schema: { type: "string", pattern: '^<[^>]+>; rel="next"$' },
    example: '</v1/store/orders?limit=100&after=943>; rel="next"',
  },
  "Content-Disposition": {
    description: "Browsers save the response as a file with this name.",
    schema: { type: "string", pattern: '^attachment; filename="[a-z0-9.-]+"$' },
    example: 'attachment; filename="pets-2026-11-16.csv"',
  },
  "Set-Cookie": {
    description:
      "The cookie of the session. Browsers send it with later requests, and no script can read it.",
    example: "petstore_production=0aB…; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict",
  },
  "X-Content-Type-Options": {
    description: "Browsers must not guess another type of content.",
    schema: { type: "string", const: "nosniff" },
  },
  "Cross-Origin-Resource-Policy": {
    description: "Pages of other origins must not load the response.",
    schema: { type: "string", const: "same-origin" },
  },
  CacheNever: {
    name: "Cache-Control",
    description: "Caches must not store the response.",
    schema: { type: "string", pattern: "^no-store(, no-transform)?$" },
    example: "no-store",
  },
} as const satisfies Record<string, Header>;

export type HeaderId = keyof typeof headers;

export function headerName(id: HeaderId): string {
  const { name } = headers[id] as Header;
  return name ?? id;
}

/** Headers on every response under the base path, whatever its status. */
export const commonHeaders: readonly HeaderId[] = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit",
  "RateLimit-Policy",
  "X-Request-Id",
];
