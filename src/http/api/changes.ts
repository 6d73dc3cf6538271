import {
  changeMessage,
  outOfRangeMessage,
  versionConflictMessage,
} from "../../domain/ledger/changes.ts";
import { petNotFound, quantityMax } from "../../domain/ledger/inventory.ts";
import type { Change, Rejected } from "../../domain/ledger/ledger.ts";
import { invalidRequest, unavailableMessages } from "../../domain/running/errors.ts";
import { applyChanges as storeChanges } from "../../domain/shop/shop.ts";
import { changesMax } from "../../domain/values/bounds.ts";
import { reasonCharactersMax } from "../../domain/values/texts.ts";
import { replayedHeaders } from "../messages/headers.ts";
import { jsonTypes } from "../messages/requests.ts";
import type * as pipeline from "../pipeline/operation.ts";
import {
  appliedFields,
  canonicalText,
  changesRequired,
  dryRunRule,
  oneAmountRule,
  parseBatch,
  petIdFieldRule,
  readChanges,
  readDryRun,
} from "./change-list.ts";
import { json } from "./contract/contract.ts";
import { exampleShortLine } from "./contract/errors.ts";
import { exampleChanged, exampleChanges, exampleVersionedItem } from "./contract/examples.ts";
import * as schema from "./contract/schema.ts";
import type { Declaration } from "./declaration.ts";
import { idempotencyKeyParameter } from "./parameters.ts";

export const changeFields = {
  petId: schema.int64("The ID of the pet."),
  quantity: schema.quantity("The new number in stock: the total."),
  delta: {
    ...schema.boundedInteger(-quantityMax, quantityMax),
    description:
      "The number to add to the stock. Negative numbers take from the stock. The result must be from 0 to 2^53 − 1.",
  },
  expectedVersion: {
    ...schema.boundedInteger(1, quantityMax),
    description:
      "The `version` that the entry must have before this change. Without it, any version is accepted.",
  },
  reason: {
    type: "string",
    maxLength: reasonCharactersMax,
    pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
    description: "Why the stock changes. The ledger keeps it. Control characters are rejected.",
  },
};
const { petId: id, quantity: total, delta, ...conditions } = changeFields;
const [taken, counted] = exampleChanges.changes;

export const changeSchemas: Readonly<Record<string, schema.Schema>> = {
  QuantityChange: schema.requestObject(
    "Sets the stock of one pet.",
    { petId: id, quantity: total, ...conditions },
    counted!,
    ["petId", "quantity"],
  ),
  DeltaChange: schema.requestObject(
    "Adds to the stock of one pet, or takes from it.",
    { petId: id, delta, ...conditions },
    taken!,
    ["petId", "delta"],
  ),
  // Two named schemas: of an object with conditions, many generators make a class without fields.
  StockChange: {
    oneOf: [
      schema.reference("schemas", "QuantityChange"),
      schema.reference("schemas", "DeltaChange"),
    ],
    description: "A change to the stock of one pet. It has either `quantity` or `delta`.",
    examples: [taken!],
  },
  StockChanges: schema.requestObject(
    "Changes that are stored together or not at all.",
    {
      changes: {
        ...schema.listOf(
          "StockChange",
          "The changes, in the order in which they are applied. A pet can appear more than once.",
        ),
        minItems: 1,
        maxItems: changesMax,
      },
      dryRun: schema.flag(
        "True to see what the changes would do. They are checked, and not stored.",
      ),
    },
    exampleChanges,
    ["changes"],
  ),
  VersionedItem: schema.responseObject(
    "The stock of one pet, with its version.",
    {
      petId: schema.int64("The ID of the pet. It can be larger than 2^53."),
      quantity: schema.quantity("The number in stock."),
      status: schema.petStatus("The status of the pet. Stock updates do not change it."),
      version: {
        ...schema.boundedInteger(1, quantityMax),
        description:
          "The version of the entry: the number of the change that made it. Send it as `expectedVersion`.",
      },
      before: schema.named(
        "Stock",
        "The stock before the change. Only in the response to a dry run.",
      ),
    },
    exampleVersionedItem,
    ["before"],
  ),
  AppliedChanges: schema.responseObject(
    "The results of a batch of changes.",
    {
      entries: schema.listOf(
        "VersionedItem",
        "The entry after each change, in the order of the request. In a dry run, as it would be, with its current `version`.",
      ),
      dryRun: schema.flag("True if nothing was stored. Only in the response to a dry run."),
    },
    exampleChanged,
    ["dryRun"],
  ),
};

/** The change and the entry of the examples. */
const petId = 7n;
const change: Change = { petId, kind: "add", amount: -2, expected: [{ seq: 1193 }], reason: null };
const current = { petId, quantity: 1, status: "available", version: 1207 } as const;
const rejected: Rejected = {
  kind: "rejected",
  reason: "out_of_range",
  index: 0,
  current,
  epoch: undefined,
};
export const exampleShortage = outOfRangeMessage(change, rejected);

const conditionsInBody =
  "Header 'If-Match' is not supported here. Give a change the field 'expectedVersion' instead.";
const reasonsInBody =
  "Header 'X-Change-Reason' is not supported here. Give a change the field 'reason' instead.";

/** How a batch passes the gate. The changes of operators can have a status. */
export const batch = (cause: "api" | "console"): pipeline.Change => ({
  kind: "stock",
  tries: readDryRun,
  parse: parseBatch,
  async run(context, call, fields) {
    const { requestId, request, caller, trace, isDryRun } = call;
    const { headers, signal } = request;
    rejectUpdateHeaders(headers);
    const changes = readChanges(fields, cause === "console");
    const idempotency = call.identify(canonicalText(changes));
    const write = { requestId, signal, trace, cause, idempotency, isDryRun };
    const { isReplayed, ...stored } = await storeChanges(context, caller, changes, write);
    const body = `{${appliedFields(stored)}}`;
    return isReplayed ? { status: 200, body, headers: replayedHeaders } : { status: 200, body };
  },
});

/** Rejects headers that would protect or explain an update of one entry, and do nothing here. */
function rejectUpdateHeaders(headers: Headers): void {
  const condition = headers.get("if-match");
  if (condition !== null && condition.trim() !== "*") throw invalidRequest(conditionsInBody);
  if (headers.has("x-change-reason")) throw invalidRequest(reasonsInBody);
}

export const applyChanges: Declaration = {
  method: "POST",
  path: "/changes",
  scope: "inventory:write",
  stability: "beta",
  body: { mediaTypes: jsonTypes, bytesMax: "changesBytesMax" },
  contract: {
    summary: "Apply several changes",
    description: `Applies up to 1,000 changes in one request. All are stored, or none. A change either sets the count (\`quantity\`) or adds to it (\`delta\`, which can be negative). The changes are applied in order, and a pet can appear more than once.

Use \`delta\` for sales and deliveries: two tills that sell at the same moment cannot overwrite each other. Use \`expectedVersion\` when a new count depends on one that you have read: the request fails if the entry has changed since.

If one change is invalid, names an unknown pet, would make a quantity negative or expects another version, no change is made. The message is about the first such change: \`Change 3 (pet 17): …\`. With 404 and 409, \`details\` lists every such change, at most 100. Each is judged as if the others in the list were not in the request.

With \`dryRun\`, the changes are checked by the same rules, in the same order, and nothing is stored. The response has each entry as it would be, with its stock \`before\`. An \`Idempotency-Key\` is then neither looked up nor remembered, so you can send the same request again without \`dryRun\`.

The response is sent after the changes are stored durably. The request counts as one against the rate limit. The headers \`If-Match\` and \`X-Change-Reason\` return 400 here: use \`expectedVersion\` and \`reason\`.`,
    parameters: [idempotencyKeyParameter],
    body: json(
      "The changes. The body can have at most 256 KiB. It can also be sent without a `Content-Type`.",
      "StockChanges",
      {
        examples: {
          sale: { summary: "A sale", value: { changes: exampleChanges.changes.slice(0, 1) } },
          sale_and_count: {
            summary: "A sale, and a count with a condition",
            value: exampleChanges,
          },
        },
      },
    ),
    success: {
      200: json("The entries after the changes.", "AppliedChanges", {
        headers: ["Idempotent-Replayed"],
        examples: { applied: { summary: "Two changed entries", value: exampleChanged } },
      }),
    },
    errors: ["idempotency_key_reused"],
    details: {
      not_found: [{ index: 0, petId: 8, code: "not_found" }],
      insufficient_stock: [exampleShortLine],
      version_conflict: [{ index: 0, petId: 7, code: "version_conflict" }],
    },
    messages: {
      invalid_request: {
        invalid_changes: changesRequired,
        invalid_dry_run: dryRunRule,
        invalid_change_petId: `Change 0: ${petIdFieldRule}`,
        invalid_change: changeMessage(0, petId, oneAmountRule),
      },
      not_found: { not_found: changeMessage(0, 8n, petNotFound) },
      insufficient_stock: { insufficient_stock: changeMessage(0, petId, exampleShortage) },
      version_conflict: {
        version_conflict: changeMessage(0, petId, versionConflictMessage(change, rejected)),
      },
      unavailable: { too_many_updates: unavailableMessages.tooManyUpdates },
    },
  },
  ...batch("api"),
};

export const changeOperations = { applyChanges };
