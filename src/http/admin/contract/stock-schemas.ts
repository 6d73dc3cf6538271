import { changesMax } from "../../../domain/ledger/changes.ts";
import { quantityMax } from "../../../domain/ledger/inventory.ts";
import { reasonCharactersMax } from "../../../domain/values/texts.ts";
import { changeSchemas } from "../../api/changes.ts";
import { detailProperties, examplePet, givenProperties } from "../../api/contract/pet-schemas.ts";
import {
  boundedInteger,
  int64,
  petStatus,
  quantity,
  reference,
  responseObject,
  type Schema,
} from "../../api/contract/schema.ts";

const exampleEntry = {
  petId: 7,
  name: "Biscuit",
  category: "dogs",
  quantity: 12,
  status: "available",
  version: 1207,
};

export const examplePetName = { petId: 7, name: "Biscuit", category: "dogs" };

export const exampleStock = {
  cursor: "5f3b2c1e-8a4d-4f0b-9c6e-2d7a1b0e4c93-1207",
  entries: [exampleEntry],
};

const { id: petId, ...exampleDetails } = examplePet;
export const exampleFullPet = { petId, ...exampleDetails, quantity: 12, version: 1207 };
export const exampleNewPet = { petId: 31, name: "Pepper", category: "cats", quantity: 2 };
export const exampleStatusChange = { petId: 7, status: "sold" };
export const exampleUndo = { reason: "Counted the wrong shelf" };
const exampleUsage = {
  step: "minute",
  from: "2026-11-15T08:01:00.000Z",
  admitted: [4, 0, 12],
  refused: [0, 0, 1],
};

/** What people recognise a pet by. */
const names = { name: detailProperties.name!, category: detailProperties.category! };
const version: Schema = {
  ...boundedInteger(1, quantityMax),
  description: "The version of the entry. Send it as `expectedVersion`.",
};
const expectedVersion: Schema = {
  ...boundedInteger(1, quantityMax),
  description: "The `version` that the entry must have. Without it, any version is accepted.",
};
const delta: Schema = {
  ...boundedInteger(-quantityMax, quantityMax),
  description: "The number to add to the stock. Negative numbers take from the stock.",
};
const reason: Schema = {
  type: "string",
  maxLength: reasonCharactersMax,
  description: "Why the stock changes. The ledger keeps it. Control characters are rejected.",
};
const newStatus = petStatus("The new status. Without it, the status stays as it is.");
const newQuantity = quantity("The new number in stock: the total.");
const counts = (description: string): Schema => ({
  type: "array",
  items: boundedInteger(0, quantityMax),
  description,
});

const usageFields: Readonly<Record<string, Schema>> = {
  step: { type: "string", enum: ["minute", "day"], description: "What one point covers, in UTC." },
  from: { type: "string", format: "date-time", description: "When the first point starts." },
  admitted: counts("The requests that were admitted, by point. The last point is the current one."),
  refused: counts("The requests that were refused because of the rate limit or a ban."),
};

export const stockSchemas: Readonly<Record<string, Schema>> = {
  NamedEntry: responseObject(
    "The stock of one pet, with its name.",
    {
      petId: int64("The ID of the pet. It can be larger than 2^53."),
      ...names,
      quantity: quantity("The number in stock."),
      status: petStatus("The status of the pet."),
      version,
    },
    exampleEntry,
  ),
  StockList: responseObject(
    "The stock of all pets.",
    {
      cursor: {
        type: "string",
        description: "Where to continue with the feed. It was read before the entries.",
      },
      entries: {
        type: "array",
        items: reference("schemas", "NamedEntry"),
        description: "One entry for each pet, by ascending `petId`.",
      },
    },
    exampleStock,
  ),
  StockUpdate: {
    type: "object",
    description:
      "A change to the stock of one pet. It has `quantity` or `delta`, or `status`, or one of the two and `status`. Unknown fields are rejected.",
    additionalProperties: false,
    properties: { quantity: newQuantity, delta, status: newStatus, expectedVersion, reason },
    examples: [{ quantity: 12, expectedVersion: 1207, reason: "Stocktake" }],
  },
  StockChange: {
    ...changeSchemas.StockChange,
    description:
      "A change to the stock of one pet. It has `quantity` or `delta`, or `status`, or one of the two and `status`. Unknown fields are rejected.",
    additionalProperties: false,
    properties: { ...changeSchemas.StockChange!.properties, status: newStatus },
    examples: [exampleStatusChange],
  },
  StockChanges: {
    ...changeSchemas.StockChanges,
    properties: {
      changes: {
        type: "array",
        items: reference("schemas", "StockChange"),
        minItems: 1,
        maxItems: changesMax,
        description: "The changes, in the order in which they are applied.",
      },
    },
    examples: [{ changes: [exampleStatusChange, { petId: 8, delta: -2 }] }],
  },
  PetDetails: responseObject(
    "A pet with its stock.",
    {
      petId: int64("The ID of the pet."),
      ...detailProperties,
      quantity: quantity("The number in stock."),
      status: petStatus("The status of the pet."),
      version,
    },
    exampleFullPet,
  ),
  PetName: responseObject(
    "What people recognise a pet by.",
    { petId: int64("The ID of the pet."), ...names },
    examplePetName,
  ),
  NewPet: {
    type: "object",
    description:
      "A pet to add. Without `quantity` and `status`, it is available with a quantity of 0. Unknown fields are rejected.",
    additionalProperties: false,
    required: ["petId", "name"],
    properties: {
      petId: int64("The ID of the pet."),
      ...givenProperties,
      quantity: quantity("The number in stock."),
      status: petStatus("The status of the pet."),
      reason,
    },
    examples: [exampleNewPet],
  },
  PetChange: {
    type: "object",
    description:
      "What to change about a pet. Fields that are not given stay as they are. Unknown fields are rejected.",
    additionalProperties: false,
    properties: givenProperties,
    examples: [{ name: "Pepper", category: null }],
  },
  Undo: {
    type: "object",
    description: "How to undo a change. Unknown fields are rejected.",
    additionalProperties: false,
    properties: {
      reason: { ...reason, description: "Why the change is undone. The ledger keeps it." },
      force: {
        type: "boolean",
        description: "Whether to overwrite later changes to the same pet. False by default.",
      },
    },
    examples: [exampleUndo],
  },
  Usage: responseObject("The requests of one key over time.", usageFields, exampleUsage),
  TotalUsage: responseObject(
    "The requests of all keys over time.",
    {
      ...usageFields,
      withoutKey: counts("The requests without a valid key. They are in no other list."),
    },
    { ...exampleUsage, withoutKey: [0, 3, 0] },
  ),
};
