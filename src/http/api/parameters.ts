import { type Cursor, parseCursor } from "../../domain/ledger/cursors.ts";
import { type Cause, causes, seqMax } from "../../domain/ledger/ledger.ts";
import { momentRule } from "../../domain/ledger/moments.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { parseInt64 } from "../../domain/values/int64.ts";
import { parseInstant } from "../../domain/values/times.ts";
import type { IncomingRequest } from "../messages/requests.ts";
import type { Parameter } from "./contract/operation.ts";
import { int64 } from "./contract/schema.ts";

/** The rules of path and query parameters. The API description shows the messages as examples. */

export const petIdRule =
  "Path parameter 'petId' must be a 64-bit integer in decimal digits, without leading zeros.";

export const petIdParameter: Parameter = {
  name: "petId",
  in: "path",
  description: "The ID of the pet, in decimal digits without a plus sign or leading zeros.",
  schema: int64("The ID of a pet."),
  example: 7,
};

export const petIdMessage = { invalid_petId: petIdRule };

export function readPetId({ params }: IncomingRequest): bigint {
  const petId = parseInt64(params?.petId ?? "");
  if (petId === undefined) throw new ServiceError("invalid_request", petIdRule);
  return petId;
}

/** The query, cut from the URL. With an invalid Host header, request.url cannot be parsed as a URL. */
export function queryOf({ url }: IncomingRequest): URLSearchParams {
  const mark = url.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : url.slice(mark));
}

export function limitRule(max: number): string {
  return `Query parameter 'limit' must be an integer from 1 to ${max}.`;
}

/** The number of items on a page. */
export function readLimit(
  query: URLSearchParams,
  bounds: { initial: number; max: number },
): number {
  const text = singleValue(query, "limit");
  if (text === undefined) return bounds.initial;
  const limit = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : Number.NaN;
  if (!(limit <= bounds.max)) throw new ServiceError("invalid_request", limitRule(bounds.max));
  return limit;
}

export const afterRule =
  "Query parameter 'after' must be the id of an order: a 64-bit integer in decimal digits.";

/** The id after which a page starts; null for the first page. */
export function readAfter(query: URLSearchParams): bigint | null {
  const text = singleValue(query, "after");
  const after = text === undefined ? null : parseInt64(text);
  if (after === undefined) throw new ServiceError("invalid_request", afterRule);
  return after;
}

export function seqRule(name: string): string {
  return `Query parameter '${name}' must be an integer from 0 to ${seqMax}.`;
}

/** The number of a ledger row. */
export function readSeq(query: URLSearchParams, name: string): number | undefined {
  const text = singleValue(query, name);
  if (text === undefined) return undefined;
  const seq = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (!(seq <= seqMax)) throw new ServiceError("invalid_request", seqRule(name));
  return seq;
}

export const cursorRule =
  "Query parameter 'after' must be a cursor of the feed, or the number of a ledger row.";

export const lastEventIdRule = "Header 'Last-Event-ID' must be a cursor of the feed.";

/** Where a client continues to read the feed: the last event that it has seen. */
export function readCursor(
  { headers }: IncomingRequest,
  query: URLSearchParams,
): Cursor | undefined {
  const lastEventId = headers.get("last-event-id");
  // A client that reconnects sends the header with the query of its first request.
  const text = lastEventId || singleValue(query, "after");
  if (text === undefined) return undefined;
  const cursor = parseCursor(text);
  if (cursor) return cursor;
  throw new ServiceError("invalid_request", lastEventId ? lastEventIdRule : cursorRule);
}

export function notInFeedRule(name: string): string {
  return `Query parameter '${name}' cannot be used with the feed.`;
}

export function instantRule(name: string): string {
  return `Query parameter '${name}' must be a date or time in ISO 8601, such as 2026-11-15T10:00:00Z. Write '+' as %2B.`;
}

/** A time in milliseconds since 1970. Rounded up, which does not move a row across it. */
export function readInstant(query: URLSearchParams, name: string): number | undefined {
  const text = singleValue(query, name);
  if (text === undefined) return undefined;
  const time = parseInstant(text, "up");
  if (time === undefined) throw new ServiceError("invalid_request", instantRule(name));
  return time;
}

export const causeRule = `Query parameter 'cause' must be one of ${causes.join(", ")}.`;

export function readCause(query: URLSearchParams): Cause | undefined {
  const text = singleValue(query, "cause");
  const cause = causes.find((one) => one === text);
  if (text !== cause) throw new ServiceError("invalid_request", causeRule);
  return cause;
}

export const keyIdRule =
  "Query parameter 'key' must be the id of an API key: 'key_' and up to 32 letters and digits.";

export const keyIdPattern = "^key_[0-9A-Za-z]{1,32}$";
const keyId = new RegExp(keyIdPattern);

/** The id of an API key. The key need not exist any more. */
export function readKeyId(query: URLSearchParams): string | undefined {
  const text = singleValue(query, "key");
  if (text !== undefined && !keyId.test(text)) {
    throw new ServiceError("invalid_request", keyIdRule);
  }
  return text;
}

export const momentInvalid = `Path parameter 'moment' ${momentRule}.`;
export const toInvalid = `Query parameter 'to' is required and ${momentRule}.`;

export function singleValue(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) {
    throw new ServiceError("invalid_request", `Query parameter '${name}' must not be repeated.`);
  }
  return values[0];
}
