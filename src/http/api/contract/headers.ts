import { jsonTypes, mergePatchTypes } from "../../messages/body.ts";
import { boundedInteger, type Schema } from "./schema.ts";

export interface Header {
  /** The header's name, if it differs from the id: one name can have two meanings and two ids. */
  readonly name?: string;
  readonly description: string;
  /** False if only some of the responses that list the header have it. */
  readonly required: boolean;
  readonly schema: Schema;
  readonly example: string | number;
}

/** Every response header that the surfaces set, except those of HTTP itself. */
export const headers = {
  "X-RateLimit-Limit": {
    description:
      "The request limit of the current window: the minute or the day, whichever has fewer requests left.",
    required: true,
    schema: boundedInteger(0),
    example: 1000,
  },
  "X-RateLimit-Remaining": {
    description: "The number of requests left in the current window.",
    required: true,
    schema: boundedInteger(0),
    example: 999,
  },
  "X-RateLimit-Reset": {
    description:
      "When the current window resets, in Unix seconds. For a banned key, when the ban ends.",
    required: true,
    schema: boundedInteger(0),
    example: 1794744060,
  },
  RateLimit: {
    description:
      "The state of both windows, in the format of the IETF draft on RateLimit headers: `r` requests are left, and the window resets in `t` seconds. Without a valid key, there is only the minute window.",
    required: true,
    schema: { type: "string", pattern: '^"minute";r=[0-9]+;t=[0-9]+(, "day";r=[0-9]+;t=[0-9]+)?$' },
    example: '"minute";r=999;t=42, "day";r=99310;t=31242',
  },
  "RateLimit-Policy": {
    description: "The limits of both windows: `q` requests in `w` seconds.",
    required: true,
    schema: { type: "string", pattern: '^"minute";q=[0-9]+;w=60(, "day";q=[0-9]+;w=86400)?$' },
    example: '"minute";q=1000;w=60, "day";q=100000;w=86400',
  },
  "X-Request-Id": {
    description: "The ID of this request. Include it when you report a problem to the operator.",
    required: true,
    schema: { type: "string", pattern: "^req_[0-9a-z_]+$" },
    example: "req_5f0c1e9a2b7d_42",
  },
  "Cache-Control": {
    description: "Sent with errors. Caches must not store them.",
    required: true,
    schema: { type: "string", const: "no-store" },
    example: "no-store",
  },
  CacheList: {
    name: "Cache-Control",
    description:
      "Sent with the inventory. A private cache can store it, but must revalidate it before each use.",
    required: true,
    schema: { type: "string", const: "private, no-cache" },
    example: "private, no-cache",
  },
  CacheCurrent: {
    name: "Cache-Control",
    description: "A cache can store the response, but must revalidate it before each use.",
    required: true,
    schema: { type: "string", const: "no-cache" },
    example: "no-cache",
  },
  CacheChanges: {
    name: "Cache-Control",
    description:
      "A cache can store a page, but must revalidate it before each use. Proxies must not compress or change the feed.",
    required: true,
    schema: { type: "string", enum: ["no-cache", "no-cache, no-transform"] },
    example: "no-cache",
  },
  "X-Accel-Buffering": {
    description: "Sent with the feed. Tells nginx to pass every event on at once.",
    required: false,
    schema: { type: "string", const: "no" },
    example: "no",
  },
  VaryAccept: {
    name: "Vary",
    description: "The form of the body depends on the request header `Accept`.",
    required: true,
    schema: { type: "string" },
    example: "Accept",
  },
  "Retry-After": {
    description: "How long to wait before the next request, in seconds.",
    required: true,
    schema: boundedInteger(1),
    example: 42,
  },
  "WWW-Authenticate": {
    description:
      'Sent with 401. Names the authentication scheme. Includes `error="invalid_token"` if the request had an invalid key.',
    required: true,
    schema: { type: "string", pattern: '^Bearer realm="petstore"(, error="invalid_token")?$' },
    example: 'Bearer realm="petstore", error="invalid_token"',
  },
  ScopeChallenge: {
    name: "WWW-Authenticate",
    description: "Sent with 403. Names the scope that the key needs (RFC 6750).",
    required: true,
    schema: {
      type: "string",
      pattern: '^Bearer realm="petstore", error="insufficient_scope", scope="[a-z:]+"$',
    },
    example: 'Bearer realm="petstore", error="insufficient_scope", scope="inventory:read"',
  },
  ETag: {
    description:
      "The version of the list or of the entry. Send it in `If-None-Match` to get a 304 while nothing has changed. Send the version of an entry in `If-Match` to update the entry only if it has not changed.",
    required: true,
    schema: { type: "string", pattern: '^"[!#-~]+"$' },
    example: '"k3v9x2-1207"',
  },
  SnapshotETag: {
    name: "ETag",
    description:
      "The version of the snapshot or diff. It does not change. Send it in `If-None-Match` to get a 304.",
    required: true,
    schema: { type: "string", pattern: '^"[!#-~]+"$' },
    example: '"k3v9x2-1207"',
  },
  "Content-Location": {
    description:
      "The same content by the numbers of its ledger rows. Unlike a time, they always mean the same content.",
    required: true,
    schema: { type: "string" },
    example: "/v1/snapshots/1207",
  },
  Vary: {
    description: "The encoding of the body depends on the request header `Accept-Encoding`.",
    required: true,
    schema: { type: "string" },
    example: "Accept-Encoding",
  },
  VaryLong: {
    name: "Vary",
    description:
      "Sent with a long body. Its encoding depends on the request header `Accept-Encoding`.",
    required: false,
    schema: { type: "string" },
    example: "Accept-Encoding",
  },
  "Content-Encoding": {
    description: "The compression of the body. Absent if the body is not compressed.",
    required: false,
    schema: { type: "string", enum: ["zstd", "br", "gzip"] },
    example: "zstd",
  },
  "Accept-Encoding": {
    description:
      "Sent if the request body was compressed. Only uncompressed request bodies are supported.",
    required: false,
    schema: { type: "string", const: "identity" },
    example: "identity",
  },
  "Accept-Patch": {
    description: "The media types that the request body can have.",
    required: false,
    schema: { type: "string", const: mergePatchTypes.join(", ") },
    example: mergePatchTypes.join(", "),
  },
  "Accept-Post": {
    description: "The media types that the request body can have.",
    required: false,
    schema: { type: "string", const: jsonTypes.join(", ") },
    example: jsonTypes.join(", "),
  },
  "Idempotent-Replayed": {
    description:
      "`true` if an earlier request with the same `Idempotency-Key` made the change, and this response repeats its result. Absent otherwise.",
    required: false,
    schema: { type: "string", const: "true" },
    example: "true",
  },
  "X-Stability": {
    description:
      "How stable the operation is: `experimental` operations can change without notice, `beta` operations with notice. Stable operations do not send this header.",
    required: false,
    schema: { type: "string", enum: ["experimental", "beta"] },
    example: "experimental",
  },
  Deprecation: {
    description: "The date of the deprecation: `@` followed by Unix seconds (RFC 9745).",
    required: false,
    schema: { type: "string", pattern: "^@[0-9]+$" },
    example: "@1767225600",
  },
  Sunset: {
    description: "The date from which the operation returns 410 (RFC 8594).",
    required: false,
    schema: { type: "string", pattern: "^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} .* GMT$" },
    example: "Fri, 31 Dec 2027 00:00:00 GMT",
  },
  Link: {
    description:
      "Sent by deprecated operations. Contains links to the documentation of the deprecation and of the sunset (RFC 8288).",
    required: false,
    schema: { type: "string" },
    example:
      '</docs>; rel="deprecation"; type="text/html", </docs>; rel="sunset"; type="text/html"',
  },
  NextPage: {
    name: "Link",
    description:
      'Sent with pages of orders and of changes. Contains the URL of the next page, with `rel="next"` (RFC 8288). Absent on the last page.',
    required: false,
    schema: { type: "string", pattern: '^<[^>]+>; rel="next"$' },
    example: '</v1/store/orders?limit=100&after=943>; rel="next"',
  },
  "Content-Disposition": {
    description: "Browsers save the response as a file with this name.",
    required: true,
    schema: { type: "string", pattern: '^attachment; filename="[a-z0-9.-]+"$' },
    example: 'attachment; filename="pets-2026-11-16.csv"',
  },
  "Set-Cookie": {
    description:
      "The cookie of the session. Browsers send it with later requests, and no script can read it.",
    required: true,
    schema: { type: "string" },
    example: "petstore_production=0aB…; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict",
  },
  "X-Content-Type-Options": {
    description: "Browsers must not guess another type of content.",
    required: true,
    schema: { type: "string", const: "nosniff" },
    example: "nosniff",
  },
  "Cross-Origin-Resource-Policy": {
    description: "Pages of other origins must not load the response.",
    required: true,
    schema: { type: "string", const: "same-origin" },
    example: "same-origin",
  },
  CacheNever: {
    name: "Cache-Control",
    description: "Caches must not store the response.",
    required: true,
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
