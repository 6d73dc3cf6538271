import { unavailableMessages } from "../../../domain/running/errors.ts";
import { reasonCharactersMax } from "../../../domain/values/texts.ts";
import { entryChanged, ifMatchInvalid } from "../../messages/error-messages.ts";
import { idempotencyKeyRule } from "../idempotency.ts";
import { petIdRule } from "../parameters.ts";
import { reasonHeaderRule } from "../reasons.ts";
import { quantityInvalid, quantityMissing } from "../stock-update.ts";
import { exampleItem, exampleUpdate } from "./examples.ts";
import type { Contract, Parameter } from "./operation.ts";
import { int64, reference } from "./schema.ts";

export const petIdParameter: Parameter = {
  name: "petId",
  in: "path",
  description: "The ID of the pet, in decimal digits without a plus sign or leading zeros.",
  schema: int64("The ID of a pet."),
  example: 7,
};

export const petIdMessage = { invalid_petId: petIdRule };

const changedMessage = {
  precondition_failed: entryChanged({ quantity: 12, version: 1207 }, '"k3v9x2-1207"'),
};
const ifMatchMessage = { invalid_if_match: ifMatchInvalid };

function ifMatch(description: string, example = "*"): Parameter {
  return { name: "If-Match", in: "header", description, schema: { type: "string" }, example };
}

function ifNoneMatch(thing: string): Parameter {
  return {
    name: "If-None-Match",
    in: "header",
    description: `The \`ETag\` of the ${thing} that you already have, including the quotes. Separate several values with commas.`,
    schema: { type: "string" },
    example: '"k3v9x2-1207"',
  };
}

export const idempotencyKeyParameter: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "Makes the request safe to send again. Generate a new unique value, such as a UUID, for every change that you want to make, and send the same value with every attempt. A repeated request returns the result of the first one and changes nothing. The value is a string in quotes, or a token without quotes, of 1 to 255 characters. Each API key has its own values. Results are kept for 7 days unless the operator sets another time.",
  schema: { type: "string" },
  example: '"5f0c1e9a-2b7d-4c6e-9a51-0d3f8e7b2c14"',
};

const reasonParameter: Parameter = {
  name: "X-Change-Reason",
  in: "header",
  description: `Why the stock changes, in at most ${reasonCharactersMax} characters. The ledger keeps it. Percent-encode characters outside ASCII as UTF-8, and \`%\` as \`%25\`. Control characters are rejected.`,
  schema: { type: "string" },
  example: "Stocktake, shelf 4",
};

export const listInventory: Contract = {
  tag: "Inventory",
  summary: "List inventory",
  description: `Returns the whole inventory: one entry for each pet, by ascending \`petId\`. There is no pagination and no filter.

The list is never stale. It includes every update that was confirmed before you sent the request.

To poll efficiently, save the \`ETag\` of the last response and send it in \`If-None-Match\`. If nothing has changed, the response is a 304 without a body. A 304 counts as a request.

The service can compress large lists with zstd, br or gzip if \`Accept-Encoding\` in the request allows it. Most HTTP libraries handle this automatically.`,
  parameters: [
    ifNoneMatch("list"),
    ifMatch(
      "The `ETag` that the list must have, or `*` for any. If the list has a different `ETag`, the response is 412.",
    ),
  ],
  success: {
    200: {
      description: "The inventory.",
      headers: ["ETag", "CacheList", "Vary", "Content-Encoding"],
      schema: { type: "array", items: reference("schemas", "InventoryItem") },
      examples: {
        two_pets: {
          summary: "Two pets",
          value: [exampleItem, { petId: 8, quantity: 0, status: "sold" }],
        },
        empty: { summary: "No pets", value: [] },
      },
    },
    304: {
      description: "The list still has the `ETag` that you sent.",
      headers: ["ETag", "CacheList", "Vary"],
    },
  },
  errors: ["precondition_failed"],
};

export const getInventory: Contract = {
  tag: "Inventory",
  summary: "Get the stock of a pet",
  description: `Returns the inventory entry of one pet. The entry is never stale: it includes every update that was confirmed before you sent the request.

\`ETag\` names the version of the entry. It changes with every update. Send the whole tag, quotes included, in \`If-Match\` with an update, so that the update fails if the entry has changed since you read it.`,
  parameters: [
    petIdParameter,
    ifNoneMatch("entry"),
    ifMatch(
      "The whole `ETag` that the entry must have, quotes included, or `*` for any. If the entry has a different `ETag`, the response is 412.",
    ),
  ],
  success: {
    200: {
      description: "The entry.",
      headers: ["ETag", "CacheList"],
      schema: reference("schemas", "InventoryItem"),
      examples: { entry: { summary: "Twelve in stock", value: exampleItem } },
    },
    304: {
      description: "The entry still has the `ETag` that you sent.",
      headers: ["ETag", "CacheList"],
    },
  },
  errors: ["invalid_request", "not_found", "precondition_failed"],
  messages: {
    invalid_request: { ...petIdMessage, ...ifMatchMessage },
    precondition_failed: changedMessage,
  },
  headers: ["X-Stability"],
};

export const updateInventory: Contract = {
  tag: "Inventory",
  summary: "Update the stock of a pet",
  description: `Sets the stock count of one pet, for example after a delivery, a return or a stocktake. The new count replaces the old one. The status of the pet does not change.

The response is sent after the update is stored durably. Every list that is requested after the response includes the update. You can send the current count again: the service records it as a confirmation.

Two optional headers make updates safe. \`If-Match\` prevents an update from overwriting a change that you have not seen. \`Idempotency-Key\` lets you send a request again when its response was lost. A repeated request returns the result of the first one, even if the entry has changed since.

*Experimental:* the request format can still change. See \`X-Stability\`.`,
  parameters: [
    petIdParameter,
    ifMatch(
      "The whole `ETag` that the entry must have, quotes included, or `*` for any. Separate several values with commas. If the entry has a different `ETag`, the response is 412, with the current quantity, version and `ETag`. Weak tags never match.",
      '"k3v9x2-1207"',
    ),
    idempotencyKeyParameter,
    reasonParameter,
  ],
  body: {
    description:
      "The new count. The body can have at most 64 KiB. It can also be sent as `application/merge-patch+json`, or without a `Content-Type`.",
    schema: reference("schemas", "InventoryUpdate"),
    examples: {
      arrival: { summary: "Twelve in stock", value: exampleUpdate },
      sold_out: { summary: "Out of stock", value: { quantity: 0 } },
    },
  },
  success: {
    200: {
      description: "The updated entry.",
      headers: ["ETag", "Idempotent-Replayed"],
      schema: reference("schemas", "InventoryItem"),
      examples: { updated: { summary: "The new count", value: exampleItem } },
    },
  },
  errors: [
    "invalid_request",
    "not_found",
    "precondition_failed",
    "payload_too_large",
    "unsupported_media_type",
    "idempotency_key_reused",
  ],
  messages: {
    invalid_request: {
      invalid_quantity: quantityInvalid,
      missing_quantity: quantityMissing,
      ...petIdMessage,
      ...ifMatchMessage,
      invalid_idempotency_key: idempotencyKeyRule,
      invalid_reason: reasonHeaderRule,
    },
    precondition_failed: changedMessage,
    unavailable: {
      too_many_updates: unavailableMessages.tooManyUpdates,
    },
  },
  headers: ["X-Stability"],
};
