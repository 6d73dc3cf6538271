import * as history from "../../domain/history/history.ts";
import { genesisHash } from "../../domain/ledger/chain.ts";
import { ledgerRowJson, type Tip } from "../../domain/ledger/ledger.ts";
import { rowsExaminedMax } from "../../domain/values/bounds.ts";
import { type Fields, parametersIn, textOf } from "../messages/fields.ts";
import { ok, type Reply } from "../messages/reply.ts";
import { readPetId } from "../messages/requests.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { json, jsonList } from "./contract/contract.ts";
import { errors } from "./contract/errors.ts";
import { exampleHead, exampleRow } from "./contract/examples.ts";
import * as schema from "./contract/schema.ts";
import type { ReadDeclaration } from "./declaration.ts";
import {
  cause,
  feed,
  feedDescription,
  feedMessages,
  key,
  lastEventId,
  openFeed,
  since,
  wantsFeed,
} from "./feed.ts";
import { nextPage, pageReply, type ReadPage } from "./list-pages.ts";
import {
  instantParameter,
  integerParameter,
  petIdParameter,
  readParameter,
  readParameters,
  seqBounds,
} from "./parameters.ts";

export const historySchemas: Readonly<Record<string, schema.Schema>> = {
  Stock: schema.responseObject(
    "The quantity and the status of a pet at one moment.",
    {
      quantity: schema.quantity("The number in stock."),
      status: schema.petStatus("The status of the pet."),
    },
    exampleRow.after,
  ),
  LedgerRow: schema.responseObject(
    "One change to the stock of one pet. Rows are never changed or removed.",
    {
      seq: schema.seq(
        "The number of the row. Rows are numbered from 1 without gaps, in the order in which they were stored.",
      ),
      petId: schema.int64("The ID of the pet."),
      before: schema.nullable(
        "Stock",
        "The stock before the change, or null if the change added the pet.",
      ),
      after: schema.nullable(
        "Stock",
        "The stock after the change, or null if the change removed the pet.",
      ),
      cause: schema.text(
        "What caused the change: `api` for a request, `import` for an import by an operator, `undo` for an operator who undid an earlier change, `console` for an operator who changed the stock in the console or with the operator API, `count` for a stocktake. Later versions can add causes.",
      ),
      keyId: schema.textOrNull(
        "The ID of the API key or operator key, or null if no key caused the change.",
      ),
      keyName: schema.textOrNull("The current name of that key, or null if the key is not known."),
      reason: schema.textOrNull("The reason that the client or operator gave, or null."),
      requestId: schema.textOrNull(
        "The `X-Request-Id` of the request that caused the change, or null.",
      ),
      at: schema.time(
        "When the change was stored, in UTC with milliseconds. It never decreases from row to row. Several rows can have the same time.",
      ),
    },
    exampleRow,
  ),
  LedgerHead: schema.responseObject(
    "The end of the ledger.",
    {
      seq: schema.seq("The number of the last row, or 0 if the ledger is empty."),
      hash: {
        type: "string",
        pattern: "^[0-9a-f]{64}$",
        description:
          "The hash of the last row, in hexadecimal digits. It covers all rows up to this one. The hash of an empty ledger is the SHA-256 of an empty string.",
      },
      at: schema.timeOrNull("When the last row was stored, or null if the ledger is empty."),
    },
    exampleHead,
  ),
};

const pageDefault = history.rowsPerPageDefault;
const rowsPerPage = { min: 1, initial: history.rowsPerPageDefault, max: history.rowsPerPageMax };

const limit = integerParameter(
  "limit",
  rowsPerPage,
  "The maximum number of changes on the page.",
  100,
);
export const until = instantParameter(
  "until",
  "Only changes before this time. A change at exactly this time is not included, so the end of one period can be the start of the next.",
  "2026-11-16T00:00:00Z",
);

const after = integerParameter("after", seqBounds, "Only changes with a larger `seq`.", 1206);
const before = integerParameter("before", seqBounds, "Only changes with a smaller `seq`.", 1207);

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

function page(description: string, value: readonly unknown[]) {
  return jsonList(description, "LedgerRow", {
    headers: ["NextPage"],
    examples: {
      page: { summary: "An import and an update", value },
      empty: { summary: "No changes", value: [] },
    },
  });
}

function readRange(fields: Fields, pageRows: number) {
  return {
    ...readParameters(fields, { after, before, since, until }),
    limit: readParameter(fields, limit) ?? pageRows,
  };
}

const readChangesPage: ReadPage = async (context, _call, fields, limit) => {
  const filter = readParameters(fields, { cause, keyId: key });
  const range = { ...readRange(fields, limit), ...filter };
  const { rows, next } = await history.listChanges(context, range);
  return { items: rows.map(ledgerRowJson), ...nextPage("after", next) };
};

const readHistoryPage: ReadPage = async (context, { request: { signal } }, fields, limit) => {
  const range = { ...readRange(fields, limit), signal };
  const { rows, next } = await history.listHistory(
    context,
    readPetId(textOf(fields, "petId")),
    range,
  );
  return { items: rows.map(ledgerRowJson), ...nextPage("before", next) };
};

export const listChanges: ReadDeclaration = {
  method: "GET",
  path: "/changes",
  scope: "history:read",
  stability: "beta",
  contract: {
    summary: "List changes, or follow them",
    description: `Returns one page of the ledger: all changes to the inventory, oldest first (by ascending \`seq\`). If more changes follow, \`Link\` contains the URL of the next page. Follow it until a response has no \`Link\`. New changes do not shift the pages.

To get new changes later, send the \`seq\` of the last change that you have received as \`after\`. Together, the pages contain every change exactly once.

The list includes every change that was confirmed before you sent the request. You can combine the filters. With \`cause\` or \`key\`, the service examines at most ${rowsExaminedMax.toLocaleString("en")} changes for one page, so a page can be short or empty and still have a \`Link\`.

${feedDescription}`,
    parameters: [
      { ...limit, description: `${limit.description} Not in the feed.` },
      {
        ...after,
        description: `${after.description} \`0\` means all. In the feed, it can also be a cursor. Without it, the feed starts with the next change.`,
      },
      { ...before, description: `${before.description} Not in the feed.` },
      since,
      { ...until, description: `${until.description} Not in the feed.` },
      cause,
      key,
      lastEventId,
    ],
    success: {
      200: {
        ...page("One page of changes, or the feed.", [creation, exampleRow]),
        headers: ["NextPage", "X-Accel-Buffering", "VaryAccept"],
        events: feed,
      },
    },
    messages: {
      invalid_request: feedMessages.invalid_request,
      rate_limit_exceeded: {
        ...errors.rate_limit_exceeded.examples,
        ...feedMessages.rate_limit_exceeded,
      },
    },
    descriptions: {
      rate_limit_exceeded: `${errors.rate_limit_exceeded.description} A key that has too many open streams of the feed gets this error too.`,
    },
  },
  readPage: readChangesPage,
  /** Replies with a page, or with a stream of all that follows if the client asks for one. */
  handle(context, call) {
    return wantsFeed(call.request) ? openFeed(context, call) : pageOfChanges(context, call);
  },
};

async function pageOfChanges(context: Context, call: Call): Promise<Reply> {
  const page = await readChangesPage(context, call, parametersIn(call.request), pageDefault);
  const { headers, ...reply } = pageReply(call, page);
  return { ...reply, headers: { ...headers, Vary: "Accept" } };
}

export const listHistory: ReadDeclaration = {
  method: "GET",
  path: "/inventory/{petId}/history",
  scope: "history:read",
  stability: "beta",
  contract: {
    summary: "List the changes of a pet",
    description: `Returns one page of the changes to the stock of one pet, newest first (by descending \`seq\`). If older changes follow, \`Link\` contains the URL of the next page. Follow it until a response has no \`Link\`. New changes do not shift the pages.

The first page includes every change that was confirmed before you sent the request. Each \`before\` is the \`after\` of the next older change.`,
    parameters: [petIdParameter, limit, before, after, since, until],
    success: { 200: page("One page of changes.", [exampleRow, creation]) },
    errors: ["not_found"],
  },
  readPage: readHistoryPage,
  async handle(context, call) {
    const fields = parametersIn(call.request);
    return pageReply(call, await readHistoryPage(context, call, fields, pageDefault));
  },
};

export const getLedgerHead: ReadDeclaration = {
  method: "GET",
  path: "/changes/head",
  scope: "history:read",
  stability: "beta",
  contract: {
    summary: "Get the end of the ledger",
    description: `Returns the number, the hash and the time of the last change. It includes every change that was confirmed before you sent the request.

Every row has a hash, made from its content and the hash of the row before it. So the last hash covers the whole ledger. Keep \`seq\` and \`hash\`. Later, the operator can run \`petstore verify --expect SEQ:HASH\`, which fails if any change up to \`seq\` was altered or removed since.`,
    success: {
      200: json("The end of the ledger.", "LedgerHead", {
        examples: {
          head: { summary: "A ledger with changes", value: exampleHead },
          empty: { summary: "An empty ledger", value: { seq: 0, hash: genesisHash, at: null } },
        },
      }),
    },
  },
  handle: async ({ store }) => ok(headOf(await store.history.readTip())),
};

/** An empty ledger has no time. */
export function headOf({ seq, hash, at }: Tip) {
  return { seq, hash, at: seq === 0 ? null : new Date(at).toISOString() };
}

export const historyOperations = { listHistory, listChanges, getLedgerHead };
