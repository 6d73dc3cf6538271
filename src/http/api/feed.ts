import { roleOf } from "../../domain/keys/keys.ts";
import {
  type Cursor,
  cursorCharactersMax,
  formatCursor,
  parseCursor,
  positionPattern,
} from "../../domain/ledger/cursors.ts";
import { causes } from "../../domain/ledger/ledger.ts";
import { invalidRequest } from "../../domain/running/errors.ts";
import { weightsIn } from "../messages/encodings.ts";
import { tooManyStreams } from "../messages/error-messages.ts";
import { errorReply } from "../messages/errors.ts";
import { queryOf, singleValue } from "../messages/fields.ts";
import type { Reply } from "../messages/reply.ts";
import type { IncomingRequest } from "../messages/requests.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import type { EventStream, Parameter } from "./contract/contract.ts";
import { exampleRow } from "./contract/examples.ts";
import { reference, type Schema, seq, text } from "./contract/schema.ts";
import {
  choiceParameter,
  instantParameter,
  keyIdPattern,
  patternParameter,
  readParameter,
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

/** The filters of the feed. Pages have them, too. */
export const cause = choiceParameter("cause", causes, "Only changes with this cause.", "api");

/** The key need not exist any more. */
export const key = patternParameter(
  "key",
  keyIdPattern,
  "must be the id of an API key: 'key_' and up to 32 letters and digits",
  "Only changes by the API key with this ID.",
  exampleRow.keyId,
);

export const since = instantParameter(
  "since",
  "Only changes at this time or later. A date alone means its start in UTC. Write `+` as `%2B`.",
  "2026-11-15T00:00:00Z",
);

const cursorRule =
  "Query parameter 'after' must be a cursor of the feed, or the number of a ledger row.";

const lastEventIdRule = "Header 'Last-Event-ID' must be a cursor of the feed.";

/** Where a client continues to read the feed: the last event that it has seen. */
function readCursor({ headers }: IncomingRequest, query: URLSearchParams): Cursor | undefined {
  const lastEventId = headers.get("last-event-id");
  // A client that reconnects sends the header with the query of its first request.
  const text = lastEventId || singleValue(query, "after");
  if (text === undefined) return undefined;
  const cursor = parseCursor(text);
  if (cursor) return cursor;
  throw invalidRequest(lastEventId ? lastEventIdRule : cursorRule);
}

function notInFeedRule(name: string): string {
  return `Query parameter '${name}' cannot be used with the feed.`;
}

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
  if (refused) throw invalidRequest(notInFeedRule(refused));
  const cursor = readCursor(request, query);
  const filter = { cause: readParameter(query, cause), keyId: readParameter(query, key) };
  const given = readParameter(query, since);
  if (request.method === "HEAD") return { status: 200, body: null, headers: feedHeaders };
  // The feed that the client continues has begun with it. It may have been in the future then.
  const from = request.headers.get("last-event-id") ? undefined : given;
  const afterSeq = from === undefined ? 0 : await context.store.history.seqAt(from - 1);
  const body = await context.feed.open({
    cursor: from === undefined ? cursor : (cursor ?? { epoch: undefined, seq: afterSeq }),
    afterSeq,
    filter,
    keyId: caller.keyId,
    isOperator: roleOf(caller) !== undefined,
    async isAuthorized() {
      const current = await authenticator.identify(request, origin);
      return current?.scopes.includes(operation.scope!) ?? false;
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
  const weights = weightsIn(accept);
  return (weights.get(mediaType) ?? 0) > (weights.get(other) ?? 0);
}

const exampleEpoch = "5f3b2c1e-8a4d-4f0b-9c6e-2d7a1b0e4c93";
const exampleCursor = formatCursor({ epoch: exampleEpoch, seq: exampleRow.seq });

export const feedDescription = `*The feed.* With \`Accept: text/event-stream\`, the response does not end. The service sends every change as a server-sent event, by ascending \`seq\`, soon after it was stored. The filters \`cause\` and \`key\` work as for pages.

| Event | Meaning |
|---|---|
| \`change\` | A change. Its data is a LedgerRow, as on a page. |
| \`heartbeat\` | All changes up to its \`seq\` that match the filters were sent. Its data is \`{"seq":1207}\`. It is the first event, unless that is a \`reset\`. The service sends another one after at most 15 seconds without an event. If you receive nothing for 30 seconds, reconnect. |
| \`reset\` | The feed cannot continue after your cursor: the ledger no longer has the rows that you have seen, for example after a restore from a backup, or the \`seq\` does not exist yet. Its data is \`{"seq":1207}\`, and the feed continues after this \`seq\`. Discard your copy of the data, and load the inventory at this \`seq\` with \`GET /snapshots/{moment}\`. |

*Start.* Without \`after\`, the feed starts with the next change. With \`after=0\`, it starts at the beginning of the ledger. With another \`seq\`, it starts after that row. With \`since\`, it starts with the first change at or after that time; a time in the future means now. With both \`after\` and \`since\`, it starts at the later of the two.

*Resume.* The \`id\` of every event is a cursor. When the connection ends, send the last cursor that you have received as \`Last-Event-ID\`. The feed continues after it, even after a restart of the service, on another instance or after a move to another database. Do not parse a cursor.

*Completeness.* The \`seq\` numbers have no gaps. A client without filters that receives every number has missed nothing.

*Load.* Updates have priority. Under load, the service sends events later and in larger groups instead of delaying updates. If a client reads too slowly, the service closes its connection, and the client resumes with its last cursor.

*Limits.* Opening the feed counts as one request. An API key can have 10 open streams on one instance, unless the operator sets another number. Opening another one returns 429. A stream ends when its key is revoked, expires or is banned, and when the service stops.`;

export const lastEventId: Parameter = {
  name: "Last-Event-ID",
  in: "header",
  description:
    "Only in the feed: the cursor of the last event that you have received. The feed continues after it. It replaces `after` and `since`.",
  schema: { type: "string", maxLength: cursorCharactersMax, pattern: positionPattern },
  example: exampleCursor,
  messages: { invalid_last_event_id: lastEventIdRule },
};

const exampleEvents = [
  "retry: 2000",
  `id: ${formatCursor({ epoch: exampleEpoch, seq: exampleRow.seq - 1 })}\nevent: heartbeat\ndata: {"seq":${exampleRow.seq - 1}}`,
  `id: ${exampleCursor}\nevent: change\ndata: ${JSON.stringify(exampleRow)}`,
  `id: ${exampleCursor}\nevent: heartbeat\ndata: {"seq":${exampleRow.seq}}`,
];

const position: Schema = {
  type: "object",
  required: ["seq"],
  properties: { seq: seq("The number of a row, or 0 for the start of the ledger.") },
};

export const feed: EventStream = {
  schema: text(
    "Server-sent events: `change`, `heartbeat` and `reset`. The data of each event is JSON.",
  ),
  examples: {
    feed: {
      summary: "The start of a feed, one change and a heartbeat",
      value: exampleEvents.map((event) => `${event}\n\n`).join(""),
    },
  },
  data: { change: reference("schemas", "LedgerRow"), heartbeat: position, reset: position },
};

export const feedMessages = {
  invalid_request: { invalid_cursor: cursorRule, not_in_feed: notInFeedRule("limit") },
  rate_limit_exceeded: { too_many_streams: tooManyStreams },
};
