import { petStatuses, quantityMax } from "../../../domain/inventory.ts";
import { orderStatuses } from "../../../domain/orders.ts";
import { petNotFound } from "../../../domain/pets.ts";
import { int64Max, int64Min } from "../../../domain/values/int64.ts";
import { statusOf } from "../../errors.ts";

/** JSON Schema 2020-12, as far as this API needs it. Plain data: it is written out as it stands. */
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
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly examples?: readonly unknown[];
  /** The codes an Error can carry, and their statuses. Data, not an enum: later versions add some. */
  readonly "x-error-codes"?: Readonly<Record<string, number>>;
}

/** Writes an integer's digits as they are; a JavaScript number would round the ends of int64. */
const exactly = (value: bigint): unknown =>
  (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(value));

/** A signed 64-bit integer of any value. */
export function int64(description: string): Schema {
  return {
    type: "integer",
    format: "int64",
    minimum: exactly(int64Min),
    maximum: exactly(int64Max),
    description,
  };
}

/**
 * An integer with bounds of its own. Without the format, generators for Java, Kotlin, Go and Rust
 * read it into 32 bits, and one large value makes a whole list unreadable.
 */
export function wholeNumber(minimum: number, maximum?: number): Schema {
  const upper = maximum === undefined ? {} : { maximum };
  return { type: "integer", format: "int64", minimum, ...upper };
}

export function reference(kind: "schemas" | "headers", name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}

const quantity = (description: string): Schema => ({
  ...wholeNumber(0, quantityMax),
  description,
});

const petStatus = (description: string): Schema => ({
  ...reference("schemas", "PetStatus"),
  description,
});

/**
 * Part of a response. Every listed field is always there. The schema stays open: a later version
 * may add fields, and a client generated from this one must not fail on them.
 */
const answered = (
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

export const exampleUpdate = { quantity: 12 };

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

const knownCodes = Object.entries(statusOf)
  .map(([code, status]) => `\`${code}\` ${status}`)
  .join(", ");

export const schemas: Readonly<Record<string, Schema>> = {
  PetStatus: {
    type: "string",
    enum: petStatuses,
    description:
      "Where a pet stands: `available` to buy, `pending` while a sale is under way, `sold` once it is done.",
  },
  InventoryItem: answered(
    "How much of one pet is in stock.",
    {
      petId: int64("The pet this stock belongs to. Keep all 64 bits: see *Numbers*."),
      quantity: quantity("How many there are now."),
      status: petStatus("The pet's own status. A stock update leaves it as it is."),
    },
    exampleItem,
  ),
  InventoryUpdate: {
    type: "object",
    description: "A new count for one pet. Fields that are not listed here are ignored.",
    required: ["quantity"],
    properties: {
      quantity: quantity(
        "How many there are from now on: the whole count, not a difference. `5`, `5.0` and `5e0` are the same integer.",
      ),
    },
    examples: [exampleUpdate],
  },
  Pet: answered(
    "A pet as the catalogue knows it.",
    {
      id: int64("The pet's identifier; the inventory calls it `petId`."),
      name: { type: "string", description: "What the pet is called." },
      category: { type: ["string", "null"], description: "Its kind; null where none was given." },
      photoUrls: {
        type: "array",
        items: { type: "string" },
        description: "Addresses of pictures, in the order in which to show them.",
      },
      tags: {
        type: "array",
        items: { type: "string" },
        description: "Free words by which the shop sorts its pets.",
      },
      status: petStatus("The same status as in the pet's inventory entry."),
    },
    examplePet,
  ),
  OrderStatus: {
    type: "string",
    enum: orderStatuses,
    description: "How far an order is: `placed`, then `approved`, then `delivered`.",
  },
  Order: answered(
    "One order. Orders are records only: they do not move stock.",
    {
      id: int64("The order's identifier."),
      petId: int64("The pet that was ordered."),
      quantity: quantity("How many were ordered."),
      shipDate: {
        type: ["string", "null"],
        format: "date-time",
        description: "When it ships, in UTC; null while no date is set.",
      },
      status: { ...reference("schemas", "OrderStatus"), description: "How far the order is." },
      complete: { type: "boolean", description: "Whether nothing is left to be done for it." },
    },
    exampleOrder,
  ),
  Error: answered(
    "The body of every refusal.",
    {
      code: {
        type: "string",
        description: `What went wrong, as a word a program can switch over. Each code has one status: ${knownCodes}. A later version may add codes; treat one you do not know by its status.`,
        "x-error-codes": statusOf,
      },
      message: {
        type: "string",
        description:
          "The same for a person: which field or header, and which rule. Do not parse it.",
      },
      status: {
        type: "integer",
        format: "int32",
        minimum: 400,
        maximum: 599,
        description:
          "The HTTP status of the answer once more, for bodies that got separated from it.",
      },
    },
    { code: "not_found", message: petNotFound, status: 404 },
  ),
};
