import * as history from "../../domain/history/history.ts";
import { genesisHash } from "../../domain/ledger/chain.ts";
import { causes, ledgerRowJson, type NamedRow, seqMax } from "../../domain/ledger/ledger.ts";
import { rowsExaminedMax } from "../../domain/ledger/store.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { errors } from "./contract/errors.ts";
import { exampleHead, exampleRow } from "./contract/examples.ts";
import type { Parameter, Success } from "./contract/operation.ts";
import {
  boundedInteger,
  int64,
  nullable,
  petStatus,
  quantity,
  reference,
  responseObject,
  type Schema,
  seq,
  text,
  textOrNull,
  time,
  timeOrNull,
} from "./contract/schema.ts";
import { feed, feedDescription, feedMessages, lastEventId, openFeed, wantsFeed } from "./feed.ts";
import type { Declaration } from "./operation.ts";
import {
  causeRule,
  instantRule,
  keyIdPattern,
  keyIdRule,
  limitRule,
  petIdMessage,
  petIdParameter,
  queryOf,
  readCause,
  readInstant,
  readKeyId,
  readLimit,
  readPetId,
  readSeq,
  seqRule,
} from "./parameters.ts";

export const historySchemas: Readonly<Record<string, Schema>> = {
  Stock: responseObject(
    "The quantity and the status of a pet at one moment.",
    {
      quantity: quantity("The number in stock."),
      status: petStatus("The status of the pet."),
    },
    exampleRow.after,
  ),
  LedgerRow: responseObject(
    "One change to the stock of one pet. Rows are never changed or removed.",
    {
      seq: seq(
        "The number of the row. Rows are numbered from 1 without gaps, in the order in which they were stored.",
      ),
      petId: int64("The ID of the pet."),
      before: nullable(
        "Stock",
        "The stock before the change, or null if the change added the pet.",
      ),
      after: nullable(
        "Stock",
        "The stock after the change, or null if the change removed the pet.",
      ),
      cause: text(
        "What caused the change: `api` for a request, `import` for an import by an operator, `undo` for an operator who undid an earlier change, `console` for an operator who changed the stock in the console or with the operator API. Later versions can add causes.",
      ),
      keyId: textOrNull(
        "The ID of the API key or operator key, or null if no key caused the change.",
      ),
      keyName: textOrNull("The current name of that key, or null if the key is not known."),
      reason: textOrNull("The reason that the client or operator gave, or null."),
      requestId: textOrNull("The `X-Request-Id` of the request that caused the change, or null."),
      at: time(
        "When the change was stored, in UTC with milliseconds. It never decreases from row to row. Several rows can have the same time.",
      ),
    },
    exampleRow,
  ),
  LedgerHead: responseObject(
    "The end of the ledger.",
    {
      seq: seq("The number of the last row, or 0 if the ledger is empty."),
      hash: {
        type: "string",
        pattern: "^[0-9a-f]{64}$",
        description:
          "The hash of the last row, in hexadecimal digits. It covers all rows up to this one. The hash of an empty ledger is the SHA-256 of an empty string.",
      },
      at: timeOrNull("When the last row was stored, or null if the ledger is empty."),
    },
    exampleHead,
  ),
};

const rowsPerPage = { initial: history.rowsPerPageDefault, max: history.rowsPerPageMax };

const limit: Parameter = {
  name: "limit",
  in: "query",
  description: "The maximum number of changes on the page.",
  schema: { ...boundedInteger(1, rowsPerPage.max), default: rowsPerPage.initial },
  example: 100,
};

function seqParameter(name: string, description: string, example: number): Parameter {
  return { name, in: "query", description, schema: boundedInteger(0, seqMax), example };
}

function instant(name: string, description: string, example: string): Parameter {
  return {
    name,
    in: "query",
    description,
    schema: { type: "string", format: "date-time" },
    example,
  };
}

const since = instant(
  "since",
  "Only changes at this time or later. A date alone means its start in UTC. Write `+` as `%2B`.",
  "2026-11-15T00:00:00Z",
);

const until = instant(
  "until",
  "Only changes before this time. A change at exactly this time is not included, so the end of one period can be the start of the next.",
  "2026-11-16T00:00:00Z",
);

const after = (description: string) => seqParameter("after", description, 1206);
const before = seqParameter("before", "Only changes with a smaller `seq`.", 1207);

const rangeMessages = {
  invalid_limit: limitRule(rowsPerPage.max),
  invalid_after: seqRule("after"),
  invalid_before: seqRule("before"),
  invalid_since: instantRule("since"),
  invalid_until: instantRule("until"),
};

const creation = {
  ...exampleRow,
  seq: 31,
  before: null,
  after: { quantity: 9, status: "available" },
  cause: "import",
  keyId: null,
  keyName: null,
  reason: "pets.csv",
  requestId: null,
  at: "2026-11-14T08:30:00.000Z",
};

function page(description: string, value: readonly unknown[]): Success {
  return {
    description,
    headers: ["NextPage"],
    schema: { type: "array", items: reference("schemas", "LedgerRow") },
    examples: {
      page: { summary: "An import and an update", value },
      empty: { summary: "No changes", value: [] },
    },
  };
}

function readRange(query: URLSearchParams) {
  return {
    limit: readLimit(query, rowsPerPage),
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

export const listChanges: Declaration = {
  method: "GET",
  path: "/changes",
  scope: "history:read",
  stability: "beta",
  contract: {
    tag: "History",
    summary: "List changes, or follow them",
    description: `Returns one page of the ledger: all changes to the inventory, oldest first (by ascending \`seq\`). If more changes follow, \`Link\` contains the URL of the next page. Follow it until a response has no \`Link\`. New changes do not shift the pages.

To get new changes later, send the \`seq\` of the last change that you have received as \`after\`. Together, the pages contain every change exactly once.

The list includes every change that was confirmed before you sent the request. You can combine the filters. With \`cause\` or \`key\`, the service examines at most ${rowsExaminedMax.toLocaleString("en")} changes for one page, so a page can be short or empty and still have a \`Link\`.

${feedDescription}`,
    parameters: [
      { ...limit, description: `${limit.description} Not in the feed.` },
      after(
        "Only changes with a larger `seq`. `0` means all. In the feed, it can also be a cursor. Without it, the feed starts with the next change.",
      ),
      { ...before, description: `${before.description} Not in the feed.` },
      since,
      { ...until, description: `${until.description} Not in the feed.` },
      {
        name: "cause",
        in: "query",
        description: "Only changes with this cause.",
        schema: { type: "string", enum: causes },
        example: "api",
      },
      {
        name: "key",
        in: "query",
        description: "Only changes by the API key with this ID.",
        schema: { type: "string", pattern: keyIdPattern },
        example: exampleRow.keyId,
      },
      lastEventId,
    ],
    success: {
      200: {
        ...page("One page of changes, or the feed.", [creation, exampleRow]),
        headers: ["NextPage", "X-Accel-Buffering", "VaryAccept"],
        events: feed,
      },
    },
    errors: ["invalid_request"],
    messages: {
      invalid_request: {
        ...rangeMessages,
        invalid_cause: causeRule,
        invalid_key: keyIdRule,
        ...feedMessages.invalid_request,
      },
      rate_limit_exceeded: {
        ...errors.rate_limit_exceeded.examples,
        ...feedMessages.rate_limit_exceeded,
      },
    },
    descriptions: {
      rate_limit_exceeded: `${errors.rate_limit_exceeded.description} A key that has too many open streams of the feed gets this error too.`,
    },
  },
  /** Replies with a page, or with a stream of all that follows if the client asks for one. */
  handle(context, call) {
    return wantsFeed(call.request) ? openFeed(context, call) : pageOfChanges(context, call);
  },
};

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

export const listHistory: Declaration = {
  method: "GET",
  path: "/inventory/{petId}/history",
  scope: "history:read",
  stability: "beta",
  contract: {
    tag: "History",
    summary: "List the changes of a pet",
    description: `Returns one page of the changes to the stock of one pet, newest first (by descending \`seq\`). If older changes follow, \`Link\` contains the URL of the next page. Follow it until a response has no \`Link\`. New changes do not shift the pages.

The first page includes every change that was confirmed before you sent the request. Each \`before\` is the \`after\` of the next older change.`,
    parameters: [
      petIdParameter,
      limit,
      before,
      after("Only changes with a larger `seq`."),
      since,
      until,
    ],
    success: { 200: page("One page of changes.", [exampleRow, creation]) },
    errors: ["invalid_request", "not_found"],
    messages: {
      invalid_request: { ...rangeMessages, ...petIdMessage },
    },
  },
  async handle(context, call) {
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
  },
};

export const getLedgerHead: Declaration = {
  method: "GET",
  path: "/changes/head",
  scope: "history:read",
  stability: "beta",
  contract: {
    tag: "History",
    summary: "Get the end of the ledger",
    description: `Returns the number, the hash and the time of the last change. It includes every change that was confirmed before you sent the request.

Every row has a hash, made from its content and the hash of the row before it. So the last hash covers the whole ledger. Keep \`seq\` and \`hash\`. Later, the operator can run \`petstore verify --expect SEQ:HASH\`, which fails if any change up to \`seq\` was altered or removed since.`,
    success: {
      200: {
        description: "The end of the ledger.",
        schema: reference("schemas", "LedgerHead"),
        examples: {
          head: { summary: "A ledger with changes", value: exampleHead },
          empty: { summary: "An empty ledger", value: { seq: 0, hash: genesisHash, at: null } },
        },
      },
    },
  },
  async handle({ store }) {
    const { seq, hash, at } = await store.history.readTip();
    const body = JSON.stringify({ seq, hash, at: seq === 0 ? null : new Date(at).toISOString() });
    return { status: 200, body };
  },
};

export const historyOperations = { listHistory, listChanges, getLedgerHead };
