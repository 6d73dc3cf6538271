import { operatorScope } from "../../domain/keys/keys.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { tooManyStreams } from "../messages/error-messages.ts";
import { errorReply } from "../messages/errors.ts";
import type { Reply } from "../messages/reply.ts";
import type { IncomingRequest } from "../messages/requests.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import {
  notInFeedRule,
  queryOf,
  readCause,
  readCursor,
  readInstant,
  readKeyId,
} from "./parameters.ts";

export const feedType = "text/event-stream";

export function wantsFeed({ headers }: IncomingRequest): boolean {
  return prefers(headers.get("accept"), feedType, "application/json");
}

/** Tells proxies not to reuse or compress the stream, and nginx not to buffer it. */
const feedHeaders = {
  "Content-Type": feedType,
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
  Vary: "Accept",
};

/** Parameters of pages that the feed refuses, because it has no end. */
const pageParameters = ["limit", "before", "until"];

/**
 * Longer than the time between two heartbeats. The idle timeout of the service may be shorter, and Bun
 * checks timeouts every four seconds: it can close a connection up to four seconds early.
 */
const idleTimeoutSeconds = 30;

/** A client that may not open another stream tries again after this time. */
const retryAfterSeconds = 5;

/** Opens a stream of changes, the other form of `listChanges`. */
export async function openFeed(context: Context, call: Call): Promise<Reply> {
  const { request, caller, authenticator, origin, operation } = call;
  const query = queryOf(request);
  const refused = pageParameters.find((name) => query.has(name));
  if (refused) throw new ServiceError("invalid_request", notInFeedRule(refused));
  const cursor = readCursor(request, query);
  const [cause, keyId] = [readCause(query), readKeyId(query)];
  const since = readInstant(query, "since");
  if (request.method === "HEAD") return { status: 200, body: null, headers: feedHeaders };
  const { history } = context.store;
  const afterSeq = since === undefined ? 0 : await history.seqAt(since - 1);
  // If the ledger has reached this time, so will every later change.
  const isReached = since === undefined || (await history.readTip()).at >= since;
  const body = await context.feed.open({
    cursor: since === undefined ? cursor : (cursor ?? { epoch: undefined, seq: afterSeq }),
    afterSeq,
    filter: { cause, keyId, since: isReached ? undefined : since },
    keyId: caller.keyId,
    isOperator: operation.scope === operatorScope,
    async isAuthorized() {
      const current = await authenticator.identify(request, origin);
      return current?.scopes.includes(operation.scope) ?? false;
    },
    signal: request.signal,
  });
  if (body) return { status: 200, body, headers: feedHeaders, idleTimeoutSeconds };
  return errorReply("rate_limit_exceeded", tooManyStreams, {
    "Retry-After": String(retryAfterSeconds),
  });
}

/**
 * Whether a client that sends this `Accept` wants `mediaType` rather than `other` (RFC 9110 12.5.1).
 * Only types that it names count, so a client that accepts everything gets the other one. So does a
 * client that gives both the same weight: some generated clients list every type in the API
 * description.
 */
export function prefers(accept: string | null, mediaType: string, other: string): boolean {
  if (accept === null) return false;
  return weightOf(accept, mediaType) > weightOf(accept, other);
}

/** The quality that the header gives to a media type; 0 if it does not name the type. */
function weightOf(accept: string, mediaType: string): number {
  for (const range of accept.split(",")) {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    if (name !== mediaType) continue;
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = quality === undefined ? 1 : Number(quality.slice(2));
    return weight >= 0 && weight <= 1 ? weight : 0;
  }
  return 0;
}
