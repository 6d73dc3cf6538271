import { yieldToEventLoop } from "../../domain/running/background.ts";
import { firstPaceDay, paceDays, type SalesStore, type Sold } from "../../domain/sales/sales.ts";
import { json } from "../api/contract/operation.ts";
import {
  count,
  int64,
  listOf,
  quantity,
  responseObject,
  type Schema,
} from "../api/contract/schema.ts";
import type { AdminDeclaration } from "./operation.ts";
import { streamed } from "./stock.ts";

const exampleSold = { petId: 7, sold: 42 };
const exampleSales = { seq: 1207, days: paceDays, pets: [exampleSold] };

export const salesSchemas: Readonly<Record<string, Schema>> = {
  SoldPet: responseObject(
    "What was sold of one pet.",
    { petId: int64("The ID of the pet."), sold: quantity("The units sold.") },
    exampleSold,
  ),
  SalesList: responseObject(
    "What was sold of all pets.",
    {
      seq: count("The last change that is included at least."),
      days: count("The number of days: today and those before it, in UTC."),
      pets: listOf("SoldPet", "Each pet that was sold, by ascending `petId`."),
    },
    exampleSales,
  ),
};

const listSales: AdminDeclaration = {
  method: "GET",
  path: "/sales",
  contract: {
    summary: "List what was sold",
    description: `Returns how many of each pet were sold in the last ${paceDays} days, for an estimate how long the stock lasts. A sale is a change by API that lowers a quantity. Deliveries, counts, imports and undo are none. The service adds new changes within seconds.

The response is streamed, as for \`GET /stock\`.`,
    success: {
      200: json("The sales.", "SalesList", {
        headers: ["Vary", "Content-Encoding"],
        examples: {
          sales: { summary: "One pet", value: exampleSales },
          none: { summary: "Nothing was sold", value: { ...exampleSales, pets: [] } },
        },
      }),
    },
  },
  async handle(context, call) {
    const { store, clock } = context;
    const { at } = await store.history.readTip();
    const seq = await store.sales.readSalesSeq();
    // The times of the ledger do not go back with the clock.
    const firstDay = firstPaceDay(Math.max(at, clock.now()));
    return streamed(context, call, salesJson(store.sales, seq, firstDay));
  },
};

/** Pets that are read in one turn of the event loop. Each may have a sum for every day. */
const slicePets = 500;

async function* salesJson(
  sales: SalesStore,
  seq: number,
  firstDay: number,
): AsyncGenerator<Uint8Array> {
  let text = `{"seq":${seq},"days":${paceDays},"pets":[`;
  let after: bigint | null = null;
  for (;;) {
    const pets: readonly Sold[] = await sales.soldAfter(after, firstDay, slicePets);
    if (after !== null && pets.length > 0) text += ",";
    text += pets.map(({ petId, units }) => `{"petId":${petId},"sold":${units}}`).join();
    if (pets.length < slicePets) break;
    after = pets.at(-1)!.petId;
    yield Buffer.from(text);
    text = "";
    await yieldToEventLoop();
  }
  yield Buffer.from(`${text}]}`);
}

export const salesOperations = { listSales };
