import { cursorCharactersMax, cursorPattern } from "../../../domain/ledger/cursors.ts";
import { quantityMax } from "../../../domain/ledger/inventory.ts";
import { paceDays } from "../../../domain/sales/sales.ts";
import { changeFields, changeSchemas } from "../../api/changes.ts";
import {
  detailProperties,
  examplePet,
  givenProperties,
  leftOutFields,
  shownProperties,
} from "../../api/contract/pet-schemas.ts";
import * as schema from "../../api/contract/schema.ts";

const examplePetName = { petId: 7, name: "Biscuit", category: "dogs", barcode: "4006381333931" };

const exampleEntry = { ...examplePetName, quantity: 12, status: "available", version: 1207 };

export const exampleStock = {
  cursor: "5f3b2c1e-8a4d-4f0b-9c6e-2d7a1b0e4c93-1207",
  entries: [exampleEntry],
};

const exampleSales = { days: paceDays, pets: [{ petId: 7, sold: 42 }] };

const { id: petId, ...exampleDetails } = examplePet;
export const exampleFullPet = { petId, ...exampleDetails, quantity: 12, version: 1207 };
export const exampleStatusChange = { petId: 7, status: "sold" };
export const exampleUndo = { reason: "Counted the wrong shelf" };
const exampleUsage = {
  step: "minute",
  from: "2026-11-15T08:01:00.000Z",
  admitted: [4, 0, 12],
  refused: [0, 0, 1],
};

/** The details of a pet that lists show. */
const names = Object.fromEntries(
  ["name", "category", "barcode", "lowStockAt"].map((name) => [name, shownProperties[name]!]),
);
const version = schema.integer(
  1,
  quantityMax,
  "The version of the entry. Send it as `expectedVersion`.",
);
const { petId: _, quantity: newQuantity, delta, ...conditions } = changeFields;
const newStatus = schema.petStatus("The new status. Without it, the status stays as it is.");
const cursor = { type: "string", maxLength: cursorCharactersMax, pattern: cursorPattern };
const countedAt: schema.Schema = {
  anyOf: [schema.boundedInteger(0, quantityMax), cursor],
  description:
    "Makes `quantity` a count: so many were there when the ledger ended with this row (its `seq`, or a cursor of the feed, which is rejected after a restore). What was sold or delivered since is kept; what other counts corrected since is not added again. The `cause` of the row is `count`, and its reason ends with the numbers.",
};
const countedTime = schema.time(
  "When it was counted, for a count without a connection, which does not hear of every row: those after `countedAt` that were stored by then belong before the count. By the clock that `POST /stocktakes` returns. The count is rejected if this is in the future, or while that clock is behind the last row. Leave it out if `countedAt` was the end of the ledger when you counted.",
);
export const exampleCount = { petId: 7, quantity: 12, countedAt: 1207, reason: "Stocktake" };
const changeText =
  "A change to the stock of one pet. It has `quantity` or `delta` or neither, and can have `status`. At least one of the three is required.";
const oneAmount = {
  anyOf: ["quantity", "delta", "status"].map((name) => ({ required: [name] })),
  // The linter wants to see the fields.
  not: { properties: { quantity: {}, delta: {} }, required: ["quantity", "delta"] },
};
const numbers = (description: string): schema.Schema => ({
  type: "array",
  items: schema.boundedInteger(0, quantityMax),
  description,
});

const usageFields: Readonly<Record<string, schema.Schema>> = {
  step: schema.choice(["minute", "day"], "The length of a point. Minutes and days are in UTC."),
  from: schema.time("When the first point starts."),
  admitted: numbers("The admitted requests at each point. The last point is the current one."),
  refused: numbers(
    "The requests at each point that were refused because of the rate limit or a ban.",
  ),
};

export const stockSchemas: Readonly<Record<string, schema.Schema>> = {
  NamedEntry: schema.responseObject(
    "The stock of one pet, with its name.",
    {
      petId: schema.int64("The ID of the pet. It can be larger than 2^53."),
      ...names,
      quantity: schema.quantity("The number in stock."),
      status: schema.petStatus("The status of the pet."),
      version,
    },
    exampleEntry,
    leftOutFields,
  ),
  StockList: schema.responseObject(
    "The stock of all pets.",
    {
      cursor: schema.text("Where to continue with the feed. It was read before the entries."),
      entries: schema.listOf("NamedEntry", "One entry for each pet, by ascending `petId`."),
    },
    exampleStock,
  ),
  SoldPet: schema.responseObject(
    "What was sold of one pet.",
    { petId: schema.int64("The ID of the pet."), sold: schema.quantity("The units sold.") },
    exampleSales.pets[0]!,
  ),
  SalesList: schema.responseObject(
    "What was sold of all pets.",
    {
      days: schema.number("The number of days: today and those before it, in UTC."),
      pets: schema.listOf("SoldPet", "Each pet that was sold, by ascending `petId`."),
    },
    exampleSales,
  ),
  StockUpdate: schema.requestObject(
    changeText,
    { quantity: newQuantity, delta, status: newStatus, ...conditions },
    { quantity: 12, expectedVersion: 1207, reason: "Stocktake" },
    undefined,
    oneAmount,
  ),
  StockChange: schema.requestObject(
    changeText,
    { ...changeFields, status: newStatus, countedAt, countedTime },
    exampleStatusChange,
    ["petId"],
    { ...oneAmount, dependentRequired: { countedAt: ["quantity"], countedTime: ["countedAt"] } },
  ),
  StockChanges: {
    ...changeSchemas.StockChanges,
    examples: [{ changes: [exampleStatusChange, { petId: 8, delta: -2 }] }],
  },
  PetDetails: schema.responseObject(
    "A pet with its stock.",
    {
      petId: schema.int64("The ID of the pet."),
      ...detailProperties,
      quantity: schema.quantity("The number in stock."),
      status: schema.petStatus("The status of the pet."),
      version,
    },
    exampleFullPet,
  ),
  PetName: schema.responseObject(
    "The name of a pet, and what else lists show of it.",
    { petId: schema.int64("The ID of the pet."), ...names },
    examplePetName,
    leftOutFields,
  ),
  NewPet: schema.requestObject(
    "A pet to add. Without `quantity` and `status`, it is available with a quantity of 0.",
    {
      petId: schema.int64("The ID of the pet."),
      ...givenProperties,
      quantity: schema.quantity("The number in stock."),
      status: schema.petStatus("The status of the pet."),
      reason: changeFields.reason,
    },
    { petId: 31, name: "Pepper", category: "cats", quantity: 2 },
    ["petId", "name"],
  ),
  PetChange: schema.requestObject(
    "What to change about a pet. Fields that are not given stay as they are.",
    givenProperties,
    { name: "Pepper", category: null },
  ),
  Undo: schema.requestObject(
    "How to undo changes.",
    {
      reason: { ...changeFields.reason, description: "Why it is undone. The ledger keeps it." },
      force: schema.flag("Whether to undo also if the pet has changed since. False by default."),
    },
    exampleUndo,
  ),
  Usage: schema.responseObject("The requests of one key over time.", usageFields, exampleUsage),
  TotalUsage: schema.responseObject(
    "The requests of all keys over time.",
    {
      ...usageFields,
      withoutKey: numbers(
        "The requests at each point without a valid key. The other lists do not include them.",
      ),
    },
    { ...exampleUsage, withoutKey: [0, 3, 0] },
  ),
};
