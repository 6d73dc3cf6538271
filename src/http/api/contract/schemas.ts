import { orderStatuses } from "../../../domain/catalogue/orders.ts";
import { changesMax } from "../../../domain/ledger/changes.ts";
import { petStatuses, quantityMax } from "../../../domain/ledger/inventory.ts";
import { apiErrorCodes } from "../../../domain/running/errors.ts";
import { reasonCharactersMax } from "../../../domain/values/texts.ts";
import { errorSchema } from "./error-schema.ts";
import {
  exampleChanged,
  exampleChanges,
  exampleDifference,
  exampleHead,
  exampleItem,
  exampleOrder,
  examplePet,
  exampleRow,
  exampleUpdate,
  exampleVersionedItem,
} from "./examples.ts";
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
} from "./schema.ts";

export const schemas: Readonly<Record<string, Schema>> = {
  PetStatus: {
    type: "string",
    enum: petStatuses,
    description:
      "The sales status of a pet: `available` for sale, `pending` while a sale is in progress, or `sold`.",
  },
  InventoryItem: responseObject(
    "The stock of one pet.",
    {
      petId: int64("The ID of the pet. It can be larger than 2^53."),
      quantity: quantity("The number in stock."),
      status: petStatus("The status of the pet. Stock updates do not change it."),
    },
    exampleItem,
  ),
  InventoryUpdate: {
    type: "object",
    description: "A new stock count for one pet. Unknown fields are ignored.",
    required: ["quantity"],
    properties: {
      quantity: quantity(
        "The new number in stock: the total, not a difference. `5`, `5.0` and `5e0` are the same integer.",
      ),
    },
    examples: [exampleUpdate],
  },
  StockChange: {
    type: "object",
    description:
      "A change to the stock of one pet. It has either `quantity` or `delta`. Unknown fields are rejected.",
    additionalProperties: false,
    required: ["petId"],
    properties: {
      petId: int64("The ID of the pet."),
      quantity: quantity("The new number in stock: the total."),
      delta: {
        ...boundedInteger(-quantityMax, quantityMax),
        description:
          "The number to add to the stock. Negative numbers take from the stock. The result must be from 0 to 2^53 − 1.",
      },
      expectedVersion: {
        ...boundedInteger(1, quantityMax),
        description:
          "The `version` that the entry must have before this change. Without it, any version is accepted.",
      },
      reason: {
        type: "string",
        maxLength: reasonCharactersMax,
        description: "Why the stock changes. The ledger keeps it. Control characters are rejected.",
      },
    },
    examples: [exampleChanges.changes[0]],
  },
  StockChanges: {
    type: "object",
    description: "Changes that are stored together or not at all. Unknown fields are rejected.",
    additionalProperties: false,
    required: ["changes"],
    properties: {
      changes: {
        type: "array",
        items: reference("schemas", "StockChange"),
        minItems: 1,
        maxItems: changesMax,
        description:
          "The changes, in the order in which they are applied. A pet can appear more than once.",
      },
    },
    examples: [exampleChanges],
  },
  VersionedItem: responseObject(
    "The stock of one pet, with its version.",
    {
      petId: int64("The ID of the pet. It can be larger than 2^53."),
      quantity: quantity("The number in stock."),
      status: petStatus("The status of the pet. Stock updates do not change it."),
      version: {
        ...boundedInteger(1, quantityMax),
        description:
          "The version of the entry: the number of the change that made it. Send it as `expectedVersion`.",
      },
    },
    exampleVersionedItem,
  ),
  AppliedChanges: responseObject(
    "The results of a batch of changes.",
    {
      entries: {
        type: "array",
        items: reference("schemas", "VersionedItem"),
        description: "The entry after each change, in the order of the request.",
      },
    },
    exampleChanged,
  ),
  Pet: responseObject(
    "A pet in the catalogue.",
    {
      id: int64("The ID of the pet. The inventory calls it `petId`."),
      name: { type: "string", description: "The name of the pet." },
      category: { type: ["string", "null"], description: "The category of the pet, or null." },
      photoUrls: {
        type: "array",
        items: { type: "string" },
        description: "URLs of photos, in display order.",
      },
      tags: {
        type: "array",
        items: { type: "string" },
        description: "Labels that the store uses to group pets.",
      },
      status: petStatus("The status of the pet. Its inventory entry has the same status."),
    },
    examplePet,
  ),
  OrderStatus: {
    type: "string",
    enum: orderStatuses,
    description: "The progress of an order: `placed`, then `approved`, then `delivered`.",
  },
  Order: responseObject(
    "An order. Orders do not change the stock.",
    {
      id: int64("The ID of the order."),
      petId: int64("The ID of the ordered pet."),
      quantity: quantity("The number ordered."),
      shipDate: {
        type: ["string", "null"],
        format: "date-time",
        description: "The shipping date and time in UTC, or null if none is set.",
      },
      status: { ...reference("schemas", "OrderStatus"), description: "The progress of the order." },
      complete: { type: "boolean", description: "Whether the order is complete." },
    },
    exampleOrder,
  ),
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
      cause: {
        type: "string",
        description:
          "What caused the change: `api` for a request, `import` for an import by the operator, `undo` for an operator who reversed an earlier change, `console` for an operator who changed it in the console. Later versions can add causes.",
      },
      keyId: {
        type: ["string", "null"],
        description: "The ID of the API key, or null if no key caused the change.",
      },
      keyName: {
        type: ["string", "null"],
        description: "The current name of that key, or null if the key is not known.",
      },
      reason: {
        type: ["string", "null"],
        description: "The reason that the client or operator gave, or null.",
      },
      requestId: {
        type: ["string", "null"],
        description: "The `X-Request-Id` of the request that caused the change, or null.",
      },
      at: {
        type: "string",
        format: "date-time",
        description:
          "When the change was stored, in UTC with milliseconds. It never decreases from row to row. Several rows can have the same time.",
      },
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
          "The hash of the last row, in hexadecimal digits. It covers all rows up to this one. The hash of an empty ledger is the SHA-256 of an empty text.",
      },
      at: {
        type: ["string", "null"],
        format: "date-time",
        description: "When the last row was stored, or null if the ledger is empty.",
      },
    },
    exampleHead,
  ),
  InventoryDifference: responseObject(
    "The stock of one pet at two moments.",
    {
      petId: int64("The ID of the pet. It can be larger than 2^53."),
      before: nullable("Stock", "The stock at the first moment, or null if the pet had no entry."),
      after: nullable("Stock", "The stock at the second moment, or null if the pet had no entry."),
    },
    exampleDifference,
  ),
  Error: errorSchema(apiErrorCodes),
};
