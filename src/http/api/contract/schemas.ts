import { changesMax } from "../../../domain/changes.ts";
import { seqMax } from "../../../domain/history.ts";
import { petStatuses, quantityMax } from "../../../domain/inventory.ts";
import { orderStatuses } from "../../../domain/orders.ts";
import { petNotFound } from "../../../domain/pets.ts";
import { reasonCharactersMax } from "../../../domain/reasons.ts";
import { int64Max, int64Min } from "../../../domain/values/int64.ts";
import { statusOf } from "../../errors.ts";

/** The part of JSON Schema 2020-12 that the API uses. Plain data, serialized as is. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly default?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly examples?: readonly unknown[];
  /** Error codes with their statuses. Not an enum, because later versions can add codes. */
  readonly "x-error-codes"?: Readonly<Record<string, number>>;
}

/** Serializes all digits of an integer. A JavaScript number would round the bounds of int64. */
const exactInteger = (value: bigint): unknown =>
  (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(value));

/** Any signed 64-bit integer. */
export function int64(description: string): Schema {
  return {
    type: "integer",
    format: "int64",
    minimum: exactInteger(int64Min),
    maximum: exactInteger(int64Max),
    description,
  };
}

/**
 * An integer within bounds. Without the format, generators for Java, Kotlin, Go and Rust use 32
 * bits, and one large value makes a whole list unreadable.
 */
export function boundedInteger(minimum: number, maximum?: number): Schema {
  const upper = maximum === undefined ? {} : { maximum };
  return { type: "integer", format: "int64", minimum, ...upper };
}

export function reference(kind: "schemas" | "headers", name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}

/** A named schema, or null. */
export function nullable(name: string, description: string): Schema {
  return { anyOf: [reference("schemas", name), { type: "null" }], description };
}

const quantity = (description: string): Schema => ({
  ...boundedInteger(0, quantityMax),
  description,
});

const seq = (description: string): Schema => ({ ...boundedInteger(0, seqMax), description });

const petStatus = (description: string): Schema => ({
  ...reference("schemas", "PetStatus"),
  description,
});

/**
 * An object in a response. Every listed field is present. Additional fields are allowed: a later
 * version can add some, and a client generated from this one must not fail on them.
 */
export const responseObject = (
  description: string,
  properties: Record<string, Schema>,
  example: Record<string, unknown>,
): Schema => ({
  type: "object",
  description,
  required: Object.keys(properties),
  properties,
  examples: [example],
});

export const exampleItem = { petId: 7, quantity: 12, status: "available" };

export const exampleStock = { quantity: 12, status: "available" };

export const exampleDifference = {
  petId: 7,
  before: { quantity: 15, status: "available" },
  after: exampleStock,
};

export const exampleUpdate = { quantity: 12 };

export const exampleChanges = {
  changes: [
    { petId: 7, delta: -2, reason: "Sold at till 4" },
    { petId: 8, quantity: 30, expectedVersion: 1193 },
  ],
};

const exampleVersionedItem = { ...exampleItem, version: 1208 };

export const exampleChanged = {
  entries: [exampleVersionedItem, { petId: 8, quantity: 30, status: "available", version: 1209 }],
};

export const examplePet = {
  id: 7,
  name: "Biscuit",
  category: "dogs",
  photoUrls: ["https://photos.example/biscuit.jpg"],
  tags: ["small", "house-trained"],
  status: "available",
};

export const exampleOrder = {
  id: 1042,
  petId: 7,
  quantity: 1,
  shipDate: "2026-11-20T09:00:00.000Z",
  status: "placed",
  complete: false,
};

export const exampleRow = {
  seq: 1207,
  petId: 7,
  before: { quantity: 9, status: "available" },
  after: { quantity: 12, status: "available" },
  cause: "api",
  keyId: "key_0Wn4pZ8sT1kQx",
  keyName: "Till 3",
  reason: "Delivery 4711",
  requestId: "req_5f0c1e9a2b7d_42",
  at: "2026-11-15T12:00:00.000Z",
};

export const exampleHead = {
  seq: 1207,
  hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  at: "2026-11-15T12:00:00.000Z",
};

const knownCodes = Object.entries(statusOf)
  .map(([code, status]) => `\`${code}\` ${status}`)
  .join(", ");

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
      "A change to the stock of one pet. It has either `quantity` or `delta`. Unknown fields are ignored.",
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
    description: "Changes that are stored together or not at all. Unknown fields are ignored.",
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
          "What caused the change: `api` for a request, `import` for an import by the operator, `undo` for an operator who reversed an earlier change. Later versions can add causes.",
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
  Error: responseObject(
    "The body of every error response.",
    {
      code: {
        type: "string",
        description: `The error code, for programs. Each code has one HTTP status: ${knownCodes}. Later versions can add codes. Handle an unknown code by its status.`,
        "x-error-codes": statusOf,
      },
      message: {
        type: "string",
        description:
          "The error message, for people. It names the field or header and the rule. Do not parse it.",
      },
      status: {
        type: "integer",
        format: "int32",
        minimum: 400,
        maximum: 599,
        description: "The HTTP status of the response.",
      },
    },
    { code: "not_found", message: petNotFound, status: 404 },
  ),
};
