import * as history from "../../domain/history/history.ts";
import { ledgerRowJson, type NamedRow } from "../../domain/ledger/ledger.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { openFeed, wantsFeed } from "./feed.ts";
import {
  queryOf,
  readCause,
  readInstant,
  readKeyId,
  readLimit,
  readPetId,
  readSeq,
} from "./parameters.ts";

const pageBounds = { initial: history.rowsPerPageDefault, max: history.rowsPerPageMax };

/** Replies with a page, or with a stream of all that follows if the client asks for one. */
export function listChanges(context: Context, call: Call): Promise<Reply> {
  return wantsFeed(call.request) ? openFeed(context, call) : pageOfChanges(context, call);
}

async function pageOfChanges(context: Context, call: Call): Promise<Reply> {
  const query = queryOf(call.request);
  const { rows, nextAfter } = await history.listChanges(context, {
    ...readRange(query),
    cause: readCause(query),
    keyId: readKeyId(query),
  });
  const { basePath, path } = call.operation;
  const kept = ["limit", "before", "cause", "key", "since", "until"];
  const next = { path: basePath + path, kept, cursor: "after", seq: nextAfter } as const;
  const { headers, ...reply } = pageReply(rows, query, next);
  return { ...reply, headers: { ...headers, Vary: "Accept" } };
}

export async function listHistory(context: Context, call: Call): Promise<Reply> {
  const petId = readPetId(call.request);
  const query = queryOf(call.request);
  const { rows, nextBefore } = await history.listHistory(context, petId, {
    ...readRange(query),
    signal: call.request.signal,
  });
  const { basePath, path } = call.operation;
  const here = basePath + path.replace("{petId}", String(petId));
  const kept = ["limit", "after", "since", "until"];
  return pageReply(rows, query, { path: here, kept, cursor: "before", seq: nextBefore });
}

export async function getLedgerHead({ store }: Context): Promise<Reply> {
  const { seq, hash, at } = await store.history.readTip();
  const body = JSON.stringify({ seq, hash, at: seq === 0 ? null : new Date(at).toISOString() });
  return { status: 200, body };
}

function readRange(query: URLSearchParams) {
  return {
    limit: readLimit(query, pageBounds),
    after: readSeq(query, "after"),
    before: readSeq(query, "before"),
    since: readInstant(query, "since"),
    until: readInstant(query, "until"),
  };
}

interface NextPage {
  readonly path: string;
  /** The parameters that the next page has in common with this one. */
  readonly kept: readonly string[];
  /** The parameter that selects the next page. */
  readonly cursor: "after" | "before";
  /** Its value. Undefined if this is the last page. */
  readonly seq: number | undefined;
}

function pageReply(
  rows: readonly NamedRow[],
  query: URLSearchParams,
  { path, kept, cursor, seq }: NextPage,
): Reply {
  const body = `[${rows.map(ledgerRowJson).join()}]`;
  if (seq === undefined) return { status: 200, body };
  const next = new URLSearchParams([...query].filter(([name]) => kept.includes(name)));
  next.set(cursor, String(seq));
  return { status: 200, body, headers: { Link: `<${path}?${next}>; rel="next"` } };
}
