import { digestOfTexts } from "../../domain/ledger/idempotency.ts";
import type { ExpectedVersion } from "../../domain/ledger/ledger.ts";
import type { VersionedEntry } from "../../domain/ledger/store.ts";
import type { LimitDecision } from "../../domain/limits/limits.ts";
import { invalidRequest } from "../../domain/running/errors.ts";
import { isEncoding } from "./encodings.ts";

/**
 * Response headers that are built once and reused. Bun copies a Headers object into a response three
 * times as fast as it reads an object literal of the same size. Setting a value costs as much as
 * building one, so values that are the same as in the last response are not set again.
 *
 * A template is filled and copied into its response without a pause in between, and filling it sets
 * every value that depends on the request. So no response can show values of another.
 */
export interface HeaderTemplate {
  readonly headers: Headers;
  limit: number;
  resetAt: number;
  perMinute: number;
  perDay: number | undefined;
}

export function createTemplate(fixed: Readonly<Record<string, string>>): HeaderTemplate {
  return { headers: new Headers(fixed), limit: -1, resetAt: -1, perMinute: -1, perDay: -1 };
}

/**
 * Sets the headers that differ between requests: the rate limits, the request id and the ETag. A
 * template is used either always with an ETag or always without.
 */
export function fillTemplate(
  template: HeaderTemplate,
  decision: LimitDecision,
  requestId: string,
  etag?: string,
): Headers {
  const { headers } = template;
  const { binding, minute, day, now } = decision;
  if (binding.limit !== template.limit) {
    template.limit = binding.limit;
    headers.set("X-RateLimit-Limit", `${binding.limit}`);
  }
  if (binding.resetAt !== template.resetAt) {
    template.resetAt = binding.resetAt;
    headers.set("X-RateLimit-Reset", `${Math.ceil(binding.resetAt / 1000)}`);
  }
  headers.set("X-RateLimit-Remaining", `${binding.remaining}`);
  if (minute.limit !== template.perMinute || day?.limit !== template.perDay) {
    template.perMinute = minute.limit;
    template.perDay = day?.limit;
    const perDay = day ? `, "day";q=${day.limit};w=86400` : "";
    headers.set("RateLimit-Policy", `"minute";q=${minute.limit};w=60${perDay}`);
  }
  let state = `"minute";r=${minute.remaining};t=${secondsUntil(minute.resetAt, now)}`;
  if (day) state += `, "day";r=${day.remaining};t=${secondsUntil(day.resetAt, now)}`;
  headers.set("RateLimit", state);
  headers.set("X-Request-Id", requestId);
  if (etag !== undefined) headers.set("ETag", etag);
  return headers;
}

export function secondsUntil(time: number, now: number): number {
  return Math.ceil((time - now) / 1000);
}

/**
 * Preconditions (RFC 9110 13.1). `tag` is the opaque part of the current ETag. The ETag of a
 * compressed form ends with the name of its encoding; every form matches.
 */

/** Whether an If-Match allows the request. Compares strongly: a weak tag never matches. */
export function satisfiesIfMatch(header: string, tag: string): boolean {
  if (header.trim() === "*") return true;
  return tagsIn(header).some(({ weak, opaque }) => !weak && matchesState(opaque, tag));
}

/** Whether an If-None-Match contains the current state. Weak tags match. */
export function satisfiesIfNoneMatch(header: string, tag: string): boolean {
  if (header.trim() === "*") return true;
  return tagsIn(header).some(({ opaque }) => matchesState(opaque, tag));
}

const tagPattern = /(W\/)?"([^"]*)"/g;

/** `*`, or a list of at least one tag. */
export const tagListPattern = '^(?:\\*|[ \\t,]*(?:(?:W/)?"[^"]*"[ \\t,]*)+)$';
const tagList = new RegExp(tagListPattern);

export const isTagList = (header: string) => tagList.test(header.trim());

/** The tags of a list. A list with anything else between the tags has none. */
function tagsIn(header: string): { weak: boolean; opaque: string }[] {
  if (/[^\s,]/.test(header.replaceAll(tagPattern, ""))) return [];
  return [...header.matchAll(tagPattern)].map(([, weak, opaque = ""]) => ({
    weak: weak !== undefined,
    opaque,
  }));
}

function matchesState(opaque: string, tag: string): boolean {
  if (opaque === tag) return true;
  return opaque.startsWith(`${tag}-`) && isEncoding(opaque.slice(tag.length + 1));
}

/** The opaque part of an entry's ETag. The epoch keeps it unique after a restore. */
export function entryTag({ entry, epoch }: VersionedEntry): string {
  return `${epoch}-${entry.version}`;
}

/**
 * The versions that an If-Match on an entry allows; undefined allows any. Tags that are weak, or not
 * in the form of an entry's tag, are left out, because they never match.
 */
export function expectedVersions(header: string): readonly ExpectedVersion[] | undefined {
  if (header.trim() === "*") return undefined;
  return tagsIn(header).flatMap(({ weak, opaque }) => {
    const match = weak ? null : /^(.+)-([1-9][0-9]{0,15})$/.exec(opaque);
    return match ? [{ epoch: match[1]!, seq: Number(match[2]) }] : [];
  });
}

/**
 * A string of RFC 9651 3.3.3: printable ASCII in quotes, with a backslash before `"` and `\`. Or a token of
 * 3.3.4, which may also start with a digit: many clients send a bare UUID.
 */
export const idempotencyKeyPattern =
  /^(?:"(?:[ !#-[\]-~]|\\["\\]){1,255}"|[!#$%&'*+.^_`|~0-9A-Za-z:/-]{1,255})$/;

const rule =
  "must be one quoted string of printable ASCII characters, or one token without quotes, with 1 to 255 characters";

export const idempotencyKeyRule = `Header 'Idempotency-Key' ${rule}.`;

/** The request that a client may send again, as digests of its key and of its meaning. */
export interface SentOnce {
  readonly key: string;
  readonly request: string;
}

/** Returns the key without quotes. A header that is sent twice arrives joined, and is invalid. */
export function idempotencyKeyIn({ headers }: Pick<Request, "headers">): string | undefined {
  const header = headers.get("idempotency-key");
  return header === null ? undefined : parseIdempotencyKey(header);
}

export function parseIdempotencyKey(text: string, message = idempotencyKeyRule): string {
  if (!idempotencyKeyPattern.test(text)) throw invalidRequest(message);
  return text[0] === '"' ? text.slice(1, -1).replaceAll(/\\(["\\])/g, "$1") : text;
}

/**
 * Identifies a request of a key. `path` and `meaning` must be the same for every way to write the same
 * request. The store keeps the digests for days, so a release that derives them differently answers retries
 * of older requests with 422.
 */
export function identifyRequest(
  keyId: string,
  key: string | undefined,
  method: string,
  path: string,
  meaning: string,
): SentOnce | undefined {
  if (key === undefined) return undefined;
  return { key: digestOfTexts(keyId, key), request: digestOfTexts(method, path, meaning) };
}

/** On responses that repeat the result of an earlier request with the same `Idempotency-Key`. */
export const replayedHeaders = { "Idempotent-Replayed": "true" };
