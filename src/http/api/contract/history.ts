import { rowsPerPageDefault, rowsPerPageMax } from "../../../domain/history/history.ts";
import { genesisHash } from "../../../domain/ledger/chain.ts";
import { causes, seqMax } from "../../../domain/ledger/ledger.ts";
import { rowsExaminedMax } from "../../../domain/ledger/store.ts";
import {
  causeRule,
  instantRule,
  keyIdPattern,
  keyIdRule,
  limitRule,
  seqRule,
} from "../parameters.ts";
import { errors } from "./errors.ts";
import { exampleHead, exampleRow } from "./examples.ts";
import { feed, feedDescription, feedMessages, lastEventId } from "./feed.ts";
import { petIdMessage, petIdParameter } from "./inventory.ts";
import type { Contract, Parameter, Success } from "./operation.ts";
import { boundedInteger, reference } from "./schema.ts";

const limit: Parameter = {
  name: "limit",
  in: "query",
  description: "The maximum number of changes on the page.",
  schema: { ...boundedInteger(1, rowsPerPageMax), default: rowsPerPageDefault },
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
  invalid_limit: limitRule(rowsPerPageMax),
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
    headers: ["NextPage", "CacheCurrent"],
    schema: { type: "array", items: reference("schemas", "LedgerRow") },
    examples: {
      page: { summary: "An import and an update", value },
      empty: { summary: "No changes", value: [] },
    },
  };
}

export const listChanges: Contract = {
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
      headers: ["NextPage", "CacheChanges", "X-Accel-Buffering", "VaryAccept"],
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
  headers: ["X-Stability"],
};

export const listHistory: Contract = {
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
  headers: ["X-Stability"],
};

export const getLedgerHead: Contract = {
  tag: "History",
  summary: "Get the end of the ledger",
  description: `Returns the number, the hash and the time of the last change. It includes every change that was confirmed before you sent the request.

Every row has a hash, made from its content and the hash of the row before it. So the last hash covers the whole ledger. Keep \`seq\` and \`hash\`. Later, the operator can run \`petstore verify --expect SEQ:HASH\`, which fails if any change up to \`seq\` was altered or removed since.`,
  success: {
    200: {
      description: "The end of the ledger.",
      headers: ["CacheCurrent"],
      schema: reference("schemas", "LedgerHead"),
      examples: {
        head: { summary: "A ledger with changes", value: exampleHead },
        empty: { summary: "An empty ledger", value: { seq: 0, hash: genesisHash, at: null } },
      },
    },
  },
  errors: [],
  headers: ["X-Stability"],
};
