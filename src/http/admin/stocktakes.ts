import { countedMax, stocktakeMsMax } from "../../domain/catalogue/stocktakes.ts";
import { formatCursor } from "../../domain/ledger/cursors.ts";
import { readId } from "../api/change-list.ts";
import { json } from "../api/contract/contract.ts";
import { exampleTime } from "../api/contract/examples.ts";
import * as schema from "../api/contract/schema.ts";
import { bodyMessages } from "../messages/fields.ts";
import { jsonTypes } from "../messages/requests.ts";
import type { AdminDeclaration } from "./admin-declaration.ts";
import { exampleStock } from "./contract/stock-schemas.ts";
import { fieldReader } from "./fields.ts";

const exampleStocktake = { keyName: "Ada", pets: [7, 8] };

const pets: schema.Schema = {
  type: "array",
  items: schema.int64("The ID of a pet."),
  maxItems: countedMax,
  description: "The pets that were counted and whose counts are not applied yet.",
};

export const stocktakeSchemas: Readonly<Record<string, schema.Schema>> = {
  Stocktake: schema.responseObject(
    "What one operator has counted.",
    { keyName: schema.text("The name of the operator key."), pets },
    exampleStocktake,
  ),
  StocktakeList: schema.responseObject(
    "What other operators have counted.",
    {
      cursor: schema.text(
        "The end of the ledger, for `countedAt` of what you count now. It includes every change that was confirmed before you sent the request.",
      ),
      now: schema.time(
        "The time by the clock that the times of changes come from, for `countedTime` of what you count without a connection.",
      ),
      others: schema.listOf(
        "Stocktake",
        "Those of the last 24 hours, the latest first. At most 50.",
      ),
    },
    { cursor: exampleStock.cursor, now: exampleTime, others: [exampleStocktake] },
  ),
  CountedPets: schema.requestObject("What you have counted.", { pets }, { pets: [7, 8] }),
};

const petsRule = `must be an array of at most ${countedMax} 64-bit integers`;
const petsField = fieldReader(petsRule, (value) => {
  const ids = Array.isArray(value) && value.length <= countedMax ? value.map(readId) : [undefined];
  return ids.every((id) => id !== undefined) ? ids : undefined;
});

const shareStocktake: AdminDeclaration = {
  method: "POST",
  path: "/stocktakes",
  body: { mediaTypes: jsonTypes, bytesMax: "changesBytesMax" },
  kind: "repeatable",
  contract: {
    summary: "Share what you count",
    description:
      "Replaces the list of the pets that you have counted and not applied yet, and returns those of others, so that two people do not count the same shelf. Without `pets`, your list stays; an empty one ends your count. The stock does not change.",
    body: json("The pets.", "CountedPets"),
    success: { 200: json("Who has counted what.", "StocktakeList") },
    messages: { invalid_request: { ...bodyMessages, invalid_pets: `Field 'pets' ${petsRule}.` } },
  },
  async run({ store: { stocktakes, inventory }, head }, call, fields) {
    const ids = petsField(fields, "pets");
    const now = await inventory.readClock();
    const cursor = formatCursor(call.head ?? (await head.readHead()));
    if (ids) await stocktakes.setStocktake(call.caller.keyId, ids, now);
    const found = await stocktakes.listStocktakes(call.caller.keyId, now - stocktakeMsMax);
    const others = found.map(
      ({ keyName, petIds }) => `{"keyName":${JSON.stringify(keyName)},"pets":[${petIds}]}`,
    );
    return {
      status: 200,
      body: `{"cursor":"${cursor}","now":"${new Date(now).toISOString()}","others":[${others}]}`,
    };
  },
};

export const stocktakeOperations = { shareStocktake };
