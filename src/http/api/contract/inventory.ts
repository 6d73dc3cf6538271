import { unavailableMessages } from "../../../domain/errors.ts";
import { noEntryTags } from "../../messages.ts";
import { petIdRule } from "../parameters.ts";
import { quantityInvalid, quantityMissing } from "../stock-update.ts";
import type { Contract, Parameter } from "./operation.ts";
import { exampleItem, exampleUpdate, int64, reference } from "./schemas.ts";

export const petIdParameter: Parameter = {
  name: "petId",
  in: "path",
  description: "The ID of the pet, in decimal digits without a plus sign or leading zeros.",
  schema: int64("The ID of a pet."),
  example: 7,
};

export const petIdMessage = { invalid_petId: petIdRule };

function ifMatch(description: string): Parameter {
  return { name: "If-Match", in: "header", description, schema: { type: "string" }, example: "*" };
}

export const listInventory: Contract = {
  tag: "Inventory",
  summary: "List inventory",
  description: `Returns the whole inventory: one entry for each pet, by ascending \`petId\`. There is no pagination and no filter.

The list is never stale. It includes every update that was confirmed before you sent the request.

To poll efficiently, save the \`ETag\` of the last response and send it in \`If-None-Match\`. If nothing has changed, the response is a 304 without a body. A 304 counts as a request.

The service can compress large lists with zstd, br or gzip if \`Accept-Encoding\` in the request allows it. Most HTTP libraries handle this automatically.`,
  parameters: [
    {
      name: "If-None-Match",
      in: "header",
      description:
        "The `ETag` of the list that you already have, including the quotes. Separate several values with commas.",
      schema: { type: "string" },
      example: '"k3v9x2-1207"',
    },
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

export const updateInventory: Contract = {
  tag: "Inventory",
  summary: "Update the stock of a pet",
  description: `Sets the stock count of one pet, for example after a delivery, a return or a stocktake. The new count replaces the old one. The status of the pet does not change.

The response is sent after the update is stored durably. Every list that is requested after the response includes the update. You can send the current count again: the service records it as a confirmation.

*Experimental:* the request format can still change. See \`X-Stability\`.`,
  parameters: [
    petIdParameter,
    ifMatch(
      "Only `*` is supported, because entries have no `ETag`. With any other value, the response is 412.",
    ),
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
  ],
  messages: {
    invalid_request: {
      invalid_quantity: quantityInvalid,
      missing_quantity: quantityMissing,
      ...petIdMessage,
    },
    precondition_failed: { precondition_failed: noEntryTags },
    unavailable: {
      too_many_updates: unavailableMessages.tooManyUpdates,
    },
  },
  headers: ["Accept-Patch", "X-Stability"],
};
