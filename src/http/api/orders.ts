import {
  type Order,
  orderStatuses,
  ordersPerPageDefault,
  ordersPerPageMax,
} from "../../domain/catalogue/orders.ts";
import { parseInt64 } from "../../domain/values/int64.ts";
import { isoOrNull } from "../../domain/values/times.ts";
import { queryOf } from "../messages/fields.ts";
import { jsonList } from "./contract/contract.ts";
import { exampleOrder } from "./contract/examples.ts";
import * as schema from "./contract/schema.ts";
import type { ReadDeclaration } from "./declaration.ts";
import { nextPage, pageReply } from "./list-pages.ts";
import { integerParameter, queryParameter, readParameter } from "./parameters.ts";

export const orderSchemas: Readonly<Record<string, schema.Schema>> = {
  OrderStatus: schema.choice(
    orderStatuses,
    "The progress of an order: `placed`, then `approved`, then `delivered`.",
  ),
  Order: schema.responseObject(
    "An order. Orders do not change the stock.",
    {
      id: schema.int64("The ID of the order."),
      petId: schema.int64("The ID of the ordered pet."),
      quantity: schema.quantity("The number ordered."),
      shipDate: schema.timeOrNull("The shipping date and time in UTC, or null if none is set."),
      status: schema.named("OrderStatus", "The progress of the order."),
      complete: schema.flag("Whether the order is complete."),
    },
    exampleOrder,
  ),
};

const pageBounds = { min: 1, initial: ordersPerPageDefault, max: ordersPerPageMax };
const limit = integerParameter(
  "limit",
  pageBounds,
  "The maximum number of orders on the page.",
  100,
);

const after = queryParameter({
  name: "after",
  description:
    "The last `id` of the previous page. The page starts with the largest `id` below it.",
  schema: schema.int64("The ID of an order."),
  example: 1042,
  rule: "must be the id of an order: a 64-bit integer in decimal digits",
  parse: parseInt64,
});

export const listOrders: ReadDeclaration = {
  method: "GET",
  path: "/store/orders",
  scope: "orders:read",
  stability: "stable",
  contract: {
    summary: "List orders",
    description: `Returns one page of orders, newest first (by descending \`id\`). If there are older orders, \`Link\` contains the URL of the next page. Follow it until a response has no \`Link\`. New orders do not shift the pages.`,
    parameters: [limit, after],
    success: {
      200: jsonList("One page of orders.", "Order", {
        headers: ["NextPage"],
        examples: {
          page: {
            summary: "A placed order and a delivered order",
            value: [
              exampleOrder,
              { ...exampleOrder, id: 1041, shipDate: null, status: "delivered", complete: true },
            ],
          },
        },
      }),
    },
  },
  async handle({ store }, call) {
    const query = queryOf(call.request);
    const size = readParameter(query, limit) ?? pageBounds.initial;
    // One more than requested shows whether there is a next page.
    const found = await store.catalogue.listOrders({
      after: readParameter(query, after) ?? null,
      limit: size + 1,
    });
    const orders = found.slice(0, size);
    const kept = new URLSearchParams({ limit: String(size) });
    const next = found.length > size ? orders.at(-1)!.id : undefined;
    return pageReply(call, { items: orders.map(orderJson), ...nextPage("after", next) }, kept);
  },
};

function orderJson(order: Order): string {
  const { quantity, status, complete } = order;
  const shipDate = isoOrNull(order.shipDate);
  const rest = JSON.stringify({ quantity, shipDate, status, complete });
  return `{"id":${order.id},"petId":${order.petId},${rest.slice(1)}`;
}

export const orderOperations = { listOrders };
