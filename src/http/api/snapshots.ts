import {
  inFuture,
  type Moment,
  momentRule,
  parseMoment,
  resolveMoments,
  rowNotFound,
} from "../../domain/ledger/moments.ts";
import { invalidRequest } from "../../domain/running/errors.ts";
import { stockAt } from "../../domain/snapshots/columns.ts";
import { stocksAt } from "../../domain/snapshots/differences.ts";
import { differencesBetween, inventoryAt } from "../../domain/snapshots/snapshots.ts";
import { instantPattern } from "../../domain/values/times.ts";
import { type Fields, queryOf, textOf } from "../messages/fields.ts";
import { satisfiesIfNoneMatch } from "../messages/headers.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { encodeDifferences, encodeEntries, jsonArray } from "../snapshots/json.ts";
import { jsonList, type Parameter } from "./contract/contract.ts";
import { exampleDifference, exampleItems } from "./contract/examples.ts";
import { int64, nullable, responseObject, type Schema } from "./contract/schema.ts";
import type { ReadDeclaration } from "./declaration.ts";
import { pageOfPets } from "./list-pages.ts";
import { afterPet as after, queryParameter, readParameter } from "./parameters.ts";

export const snapshotSchemas: Readonly<Record<string, Schema>> = {
  InventoryDifference: responseObject(
    "The stock of one pet at two moments.",
    {
      petId: int64("The ID of the pet. It can be larger than 2^53."),
      before: nullable("Stock", "The stock at the first moment, or null if the pet had no entry."),
      after: nullable("Stock", "The stock at the second moment, or null if the pet had no entry."),
    },
    exampleDifference,
  ),
};

const momentSchema = {
  type: "string",
  pattern: `^(?:0|[1-9][0-9]{0,15}|${instantPattern})$`,
} as const;

const momentText =
  "The number of a ledger row (`seq`), or a date or time in ISO 8601 with an offset from UTC. A time includes the changes at that time. A date alone means its start in UTC. `0` is the moment before the first change.";

const momentInvalid = `Path parameter 'moment' ${momentRule}.`;

const momentParameter: Parameter = {
  name: "moment",
  in: "path",
  description: momentText,
  schema: momentSchema,
  example: "2026-11-15T10:00:00Z",
  messages: { invalid_moment: momentInvalid, future: inFuture("2030-01-01T00:00:00Z") },
};

const to = queryParameter({
  name: "to",
  description: `The second moment. ${momentText}`,
  schema: momentSchema,
  example: "2026-11-15T11:00:00Z",
  required: true,
  rule: `is required and ${momentRule}`,
  // A plus sign in a query means a space, and an offset from UTC may be sent as it is.
  parse: (text) => parseMoment(text.replace(" ", "+")),
});

const knownTag: Parameter = {
  name: "If-None-Match",
  in: "header",
  description: "The `ETag` of the response that you already have, including the quotes.",
  schema: { type: "string" },
  example: '"k3v9x2-1207"',
};

/** What snapshots and diffs have in common. */
const shared = {
  messages: { not_found: { not_found: rowNotFound(1300, 1207) } },
  descriptions: { not_found: "The ledger has no row with this number yet." },
};
const headers = ["SnapshotETag", "Content-Location"] as const;

export const getSnapshot: ReadDeclaration = {
  method: "GET",
  path: "/snapshots/{moment}",
  scope: "history:read",
  stability: "beta",
  contract: {
    summary: "Get a past inventory",
    description: `Returns the whole inventory as it was at a moment: one entry for each pet, by ascending \`petId\`, in the same format as the inventory list. Pets that had no entry then are left out.

The inventory at a ledger row never changes. The inventory at a time can still change until the clock has passed that time. \`Content-Location\` contains the URL of the same inventory by ledger row.

The response is streamed. If the service fails while it sends the response, it closes the connection, and the JSON text is incomplete.`,
    parameters: [momentParameter, knownTag],
    success: {
      200: jsonList("The inventory at that moment.", "InventoryItem", {
        headers,
        examples: {
          two_pets: exampleItems,
          empty: { summary: "Before the first change", value: [] },
        },
      }),
      304: { description: "You have this inventory already.", headers },
    },
    ...shared,
  },
  async readPage({ store, snapshots }, call, fields, limit) {
    const [at] = await resolveMoments(store, [readMoment(fields)]);
    const start = readParameter(fields, after);
    return snapshots.prepare(call, async (signal) =>
      pageOfPets(
        await inventoryAt(store, at!, signal),
        start,
        limit,
        (one, row) => stockAt(one, row)!,
      ),
    );
  },
  async handle(context, call) {
    const [at] = await resolveMoments(context.store, [readMoment(call.request.params)]);
    const { basePath } = call.operation;
    return reply(context, call, at!.tag, `${basePath}/snapshots/${at!.seq}`, async (signal) =>
      jsonArray(await inventoryAt(context.store, at!, signal), encodeEntries),
    );
  },
};

export const getDiff: ReadDeclaration = {
  method: "GET",
  path: "/snapshots/{moment}/diff",
  scope: "history:read",
  stability: "beta",
  contract: {
    summary: "Compare the inventory at two moments",
    description: `Returns every pet whose quantity or status differs between two moments, by ascending \`petId\`, with its stock at both. A pet that changed and changed back does not appear. \`to\` can be earlier than \`moment\`.

The response is streamed. If the service fails while it sends the response, it closes the connection, and the JSON text is incomplete.`,
    parameters: [momentParameter, to, knownTag],
    success: {
      200: jsonList("The pets whose stock differs.", "InventoryDifference", {
        headers,
        examples: {
          changed: {
            summary: "One pet was sold, one is new",
            value: [
              exampleDifference,
              { petId: 8, before: null, after: { quantity: 3, status: "available" } },
            ],
          },
          same: { summary: "No difference", value: [] },
        },
      }),
      304: { description: "You have this comparison already.", headers },
    },
    ...shared,
  },
  async readPage({ store, snapshots }, call, fields, limit) {
    const moments = [readMoment(fields), readParameter(fields, to)!];
    const [from, until] = await resolveMoments(store, moments);
    const start = readParameter(fields, after);
    return snapshots.prepare(call, async (signal) =>
      pageOfPets(await differencesBetween(store, from!, until!, signal), start, limit, stocksAt),
    );
  },
  async handle(context, call) {
    const { params } = call.request;
    const moments = [readMoment(params), readParameter(queryOf(call.request), to)!];
    const [from, until] = await resolveMoments(context.store, moments);
    const location = `${call.operation.basePath}/snapshots/${from!.seq}/diff?to=${until!.seq}`;
    return reply(context, call, `${from!.tag}..${until!.tag}`, location, async (signal) =>
      jsonArray(await differencesBetween(context.store, from!, until!, signal), encodeDifferences),
    );
  },
};

/** Replies without a body where the client has this state already. */
async function reply(
  { snapshots }: Context,
  call: Call,
  tag: string,
  location: string,
  prepare: (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>,
): Promise<Reply> {
  const headers = { ETag: `"${tag}"`, "Content-Location": location };
  const known = call.request.headers.get("if-none-match");
  if (known !== null && satisfiesIfNoneMatch(known, tag)) {
    return { status: 304, body: null, headers };
  }
  return { status: 200, body: await snapshots.open(call, prepare), headers };
}

function readMoment(fields: Fields = {}): Moment {
  const moment = parseMoment(textOf(fields, "moment") ?? "");
  if (!moment) throw invalidRequest(momentInvalid);
  return moment;
}

export const snapshotOperations = { getSnapshot, getDiff };
