import * as parameters from "../parameters.ts";
import * as update from "../stock-update.ts";
import type { Contract, Parameter } from "./operation.ts";
import { exampleItem, exampleUpdate, int64, reference } from "./schemas.ts";

export const petIdParameter: Parameter = {
  name: "petId",
  in: "path",
  description: "Which pet, in plain decimal digits: no plus sign, no leading zeros.",
  schema: int64("A pet's identifier."),
  example: 7,
};

export const petIdRule = { petId: parameters.petIdRule };

function ifMatch(description: string): Parameter {
  return { name: "If-Match", in: "header", description, schema: { type: "string" }, example: "*" };
}

export const listInventory: Contract = {
  tag: "Inventory",
  summary: "List the stock of all pets",
  description: `Gives the whole inventory in one answer: one entry for each pet, by ascending \`petId\`. There are no pages and no filters.

The list is never stale: it shows every update that was answered before this request was sent.

If you ask often, keep the \`ETag\` of the last answer and send it in \`If-None-Match\`. While nothing has changed you get a 304 without a body. It counts as a request all the same.

A large list is compressed if your HTTP library accepts zstd, br or gzip. Most libraries ask for compression and undo it by themselves.`,
  parameters: [
    {
      name: "If-None-Match",
      in: "header",
      description: "The `ETag` of the list you already have, quotes included, or several of them.",
      schema: { type: "string" },
      example: '"k3v9x2-1207"',
    },
    ifMatch("The `ETag` that the list must still have; otherwise the answer is 412."),
  ],
  success: {
    200: {
      description: "The inventory.",
      headers: ["ETag", "CacheList", "Vary", "Content-Encoding"],
      schema: { type: "array", items: reference("schemas", "InventoryItem") },
      examples: {
        two_pets: {
          summary: "A shop with two pets",
          value: [exampleItem, { petId: 8, quantity: 0, status: "sold" }],
        },
        empty: { summary: "A shop without pets", value: [] },
      },
    },
    304: {
      description: "Nothing has changed since the list whose `ETag` you sent.",
      headers: ["ETag", "CacheList", "Vary"],
    },
  },
  errors: ["precondition_failed"],
};

export const updateInventory: Contract = {
  tag: "Inventory",
  summary: "Set the stock of one pet",
  description: `Records a new count for one pet: after a delivery, a return, or a walk along the shelves. The number you send replaces the old one; the pet's status stays as it is.

The answer comes once the change is stored for good, and every list asked for afterwards shows it. Sending the number that is already there is fine: it is recorded as a confirmation.

*Experimental:* the request may still change its shape. Watch \`X-Stability\`.`,
  parameters: [
    petIdParameter,
    ifMatch("Only `*` is possible: entries have no `ETag` yet. Any other value is 412."),
  ],
  body: {
    description:
      "The new count. At most 64 KiB. `application/merge-patch+json` and JSON without a `Content-Type` are accepted too.",
    schema: reference("schemas", "InventoryUpdate"),
    examples: {
      arrival: { summary: "There are twelve now", value: exampleUpdate },
      sold_out: { summary: "None are left", value: { quantity: 0 } },
    },
  },
  success: {
    200: {
      description: "The entry as it is now.",
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
  invalid: {
    quantity: update.quantityInvalid,
    missing: update.quantityMissing,
    ...petIdRule,
  },
  headers: ["Accept-Patch", "X-Stability"],
};
