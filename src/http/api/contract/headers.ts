import { mergePatchTypes } from "../../body.ts";
import { type Schema, wholeNumber } from "./schemas.ts";

export interface Header {
  /** The header's name on the wire, where two uses of one name need two ids. */
  readonly name?: string;
  readonly description: string;
  /** False where the header comes only with some of the answers that list it. */
  readonly required: boolean;
  readonly schema: Schema;
  readonly example: string | number;
}

/** Every header an answer can carry that is this API's own doing, and what it means. */
export const headers = {
  "X-RateLimit-Limit": {
    description:
      "How many requests the binding window allows: of the minute and the day, the one that will stop you first.",
    required: true,
    schema: wholeNumber(0),
    example: 1000,
  },
  "X-RateLimit-Remaining": {
    description: "How many of them are left after this request.",
    required: true,
    schema: wholeNumber(0),
    example: 999,
  },
  "X-RateLimit-Reset": {
    description:
      "When that window starts anew, in Unix seconds. On a banned key: when the ban is over.",
    required: true,
    schema: wholeNumber(0),
    example: 1794744060,
  },
  RateLimit: {
    description:
      "Both windows at once, in the IETF's notation: `r` requests are left, and the window ends in `t` seconds. Requests without a valid key are counted by the minute only.",
    required: true,
    schema: { type: "string", pattern: '^"minute";r=[0-9]+;t=[0-9]+(, "day";r=[0-9]+;t=[0-9]+)?$' },
    example: '"minute";r=999;t=42, "day";r=99310;t=31242',
  },
  "RateLimit-Policy": {
    description: "The limits behind `RateLimit`: `q` requests in every window of `w` seconds.",
    required: true,
    schema: { type: "string", pattern: '^"minute";q=[0-9]+;w=60(, "day";q=[0-9]+;w=86400)?$' },
    example: '"minute";q=1000;w=60, "day";q=100000;w=86400',
  },
  "X-Request-Id": {
    description: "Names this one request. Quote it when you ask the operator about an answer.",
    required: true,
    schema: { type: "string", pattern: "^req_[0-9a-z_]+$" },
    example: "req_5f0c1e9a2b7d_42",
  },
  "Cache-Control": {
    description: "A refusal is not to be kept by any cache.",
    required: true,
    schema: { type: "string", const: "no-store" },
    example: "no-store",
  },
  CacheList: {
    name: "Cache-Control",
    description: "Your own cache may keep the list, but has to ask before each use of it.",
    required: true,
    schema: { type: "string", const: "private, no-cache" },
    example: "private, no-cache",
  },
  "Retry-After": {
    description:
      "Whole seconds to wait before the next attempt, at least 1. Asking sooner is refused again.",
    required: true,
    schema: wholeNumber(1),
    example: 42,
  },
  "WWW-Authenticate": {
    description:
      'How to authenticate. `error="invalid_token"` is added when a key was sent but is not good.',
    required: true,
    schema: { type: "string", pattern: '^Bearer realm="petstore"(, error="invalid_token")?$' },
    example: 'Bearer realm="petstore", error="invalid_token"',
  },
  ScopeChallenge: {
    name: "WWW-Authenticate",
    description: "Names the scope that the key would need (RFC 6750).",
    required: true,
    schema: {
      type: "string",
      pattern: '^Bearer realm="petstore", error="insufficient_scope", scope="[a-z:]+"$',
    },
    example: 'Bearer realm="petstore", error="insufficient_scope", scope="inventory:read"',
  },
  ETag: {
    description:
      "Names this exact state of the list. Send it back in `If-None-Match` to be told when nothing changed.",
    required: true,
    schema: { type: "string", pattern: '^"[!#-~]+"$' },
    example: '"k3v9x2-1207"',
  },
  Vary: {
    description: "The body's coding depends on the request's `Accept-Encoding`.",
    required: true,
    schema: { type: "string" },
    example: "Accept-Encoding",
  },
  "Content-Encoding": {
    description:
      "The coding of the body, when the request's `Accept-Encoding` admits one that pays: zstd, br or gzip.",
    required: false,
    schema: { type: "string", enum: ["zstd", "br", "gzip"] },
    example: "zstd",
  },
  CacheCurrent: {
    name: "Cache-Control",
    description: "A cache may keep the answer, but has to ask before each use of it.",
    required: true,
    schema: { type: "string", const: "no-cache" },
    example: "no-cache",
  },
  "Accept-Encoding": {
    description: "Sent when the request's body was compressed: only `identity` is read.",
    required: false,
    schema: { type: "string", const: "identity" },
    example: "identity",
  },
  "Accept-Patch": {
    description: "The media types a request body at this path may have.",
    required: true,
    schema: { type: "string", const: mergePatchTypes.join(", ") },
    example: mergePatchTypes.join(", "),
  },
  "X-Stability": {
    description:
      "Sent by operations that may still change: `experimental` without notice, `beta` with notice. A stable operation sends none.",
    required: true,
    schema: { type: "string", enum: ["experimental", "beta"] },
    example: "experimental",
  },
  Deprecation: {
    description: "Since when this operation is deprecated: an `@` and Unix seconds (RFC 9745).",
    required: true,
    schema: { type: "string", pattern: "^@[0-9]+$" },
    example: "@1767225600",
  },
  Sunset: {
    description: "From when on this operation answers 410 and nothing else (RFC 8594).",
    required: true,
    schema: { type: "string", pattern: "^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} .* GMT$" },
    example: "Fri, 31 Dec 2027 00:00:00 GMT",
  },
  Link: {
    description: "Where to read about the deprecation and the sunset (RFC 8288).",
    required: true,
    schema: { type: "string" },
    example:
      '</docs>; rel="deprecation"; type="text/html", </docs>; rel="sunset"; type="text/html"',
  },
  NextPage: {
    name: "Link",
    description:
      'Comes while older orders are left: `rel="next"` is the address of the next page (RFC 8288).',
    required: false,
    schema: { type: "string", pattern: '^<[^>]+>; rel="next"$' },
    example: '</v1/store/orders?limit=100&after=943>; rel="next"',
  },
} as const satisfies Record<string, Header>;

export type HeaderId = keyof typeof headers;

export function headerName(id: HeaderId): string {
  const { name } = headers[id] as Header;
  return name ?? id;
}

/** What every answer under the base address carries, whatever its status. */
export const everyAnswer: readonly HeaderId[] = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit",
  "RateLimit-Policy",
  "X-Request-Id",
];
