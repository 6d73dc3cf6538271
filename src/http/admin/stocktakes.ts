import { countedMax, type Stocktake, stocktakeMsMax } from "../../domain/catalogue/stocktakes.ts";
import { InvalidField } from "../../domain/running/errors.ts";
import { readId } from "../api/change-list.ts";
import { exampleOperatorId, exampleTime } from "../api/contract/examples.ts";
import { json } from "../api/contract/operation.ts";
import {
  int64,
  listOf,
  requestObject,
  responseObject,
  type Schema,
  text,
  time,
} from "../api/contract/schema.ts";
import { jsonTypes } from "../messages/requests.ts";
import { bodyMessages, fieldReader, readFields } from "./fields.ts";
import type { AdminDeclaration } from "./operation.ts";

const exampleCounted = { pets: [7, 8] };
const exampleStocktake = {
  keyId: exampleOperatorId,
  keyName: "Ada",
  ...exampleCounted,
  at: exampleTime,
};
const exampleList = { now: exampleTime, stocktakes: [exampleStocktake] };

const pets: Schema = {
  type: "array",
  items: int64("The ID of a pet."),
  maxItems: countedMax,
  description: "The pets that were counted and whose counts are not applied yet.",
};

export const stocktakeSchemas: Readonly<Record<string, Schema>> = {
  Stocktake: responseObject(
    "What one operator has counted.",
    {
      keyId: text("The ID of the operator key."),
      keyName: text("The name of the operator key."),
      pets,
      at: time("When the operator last reported it."),
    },
    exampleStocktake,
  ),
  StocktakeList: responseObject(
    "What operators have counted.",
    {
      now: time(
        "The time of the service. A count without a connection is placed in the ledger by it.",
      ),
      stocktakes: listOf("Stocktake", "Those of the last 24 hours, the latest first. At most 50."),
    },
    exampleList,
  ),
  CountedPets: requestObject("What you have counted.", { pets }, exampleCounted, ["pets"]),
};

const listedMax = 50;

const listStocktakes: AdminDeclaration = {
  method: "GET",
  path: "/stocktakes",
  contract: {
    summary: "List who counts what",
    description:
      "Returns the pets that operators have counted and not applied yet, so that two people do not count the same shelf.",
    success: {
      200: json("Who has counted what.", "StocktakeList", {
        examples: { one: { summary: "One operator", value: exampleList } },
      }),
    },
  },
  async handle({ store, clock }) {
    const now = clock.now();
    const found = await store.stocktakes.listStocktakes(now - stocktakeMsMax, listedMax);
    const stocktakes = found.map(stocktakeJson).join();
    return { status: 200, body: `{"now":"${isoOf(now)}","stocktakes":[${stocktakes}]}` };
  },
};

const petsRule = `is required and must be an array of at most ${countedMax} 64-bit integers`;
const petsField = fieldReader(petsRule, (value) => {
  const ids = Array.isArray(value) && value.length <= countedMax ? value.map(readId) : [undefined];
  return ids.every((id) => id !== undefined) ? ids : undefined;
});

const setStocktake: AdminDeclaration = {
  method: "PUT",
  path: "/stocktakes/own",
  body: { mediaTypes: jsonTypes, bytesMax: "changesBytesMax" },
  contract: {
    summary: "Report what you count",
    description:
      "Replaces the list of the pets that you have counted and not applied yet. Nothing is changed in the stock. An empty list ends your count.",
    body: json("The pets.", "CountedPets"),
    success: { 204: { description: "The list is stored." } },
    messages: {
      invalid_request: { ...bodyMessages, invalid_pets: `Field 'pets' ${petsRule}.` },
    },
  },
  async handle({ store, clock }, call) {
    const ids = petsField(await readFields(call), "pets");
    if (!ids) throw new InvalidField("pets", petsRule);
    await store.stocktakes.setStocktake(call.caller.keyId, ids, clock.now());
    return { status: 204, body: null };
  },
};

function stocktakeJson({ keyId, keyName, petIds, at }: Stocktake): string {
  return `{"keyId":"${keyId}","keyName":${JSON.stringify(keyName)},"pets":[${petIds.join()}],"at":"${isoOf(at)}"}`;
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

export const stocktakeOperations = { listStocktakes, setStocktake };
