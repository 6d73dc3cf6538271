import {
  type Order,
  orderStatuses,
  ordersPerPageDefault,
  ordersPerPageMax,
} from "../../domain/catalogue/orders.ts";
import { isoOrNull } from "../../domain/values/times.ts";
import { exampleOrder } from "./contract/examples.ts";
import {
  boundedInteger,
  int64,
  named,
  quantity,
  reference,
  responseObject,
  type Schema,
  timeOrNull,
} from "./contract/schema.ts";
import type { Declaration } from "./operation.ts";
import { afterRule, limitRule, queryOf, readAfter, readLimit } from "./parameters.ts";

export const orderSchemas: Readonly<Record<string, Schema>> = {
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
      shipDate: timeOrNull("The shipping date and time in UTC, or null if none is set."),
      status: named("OrderStatus", "The progress of the order."),
      complete: { type: "boolean", description: "Whether the order is complete." },
    },
    exampleOrder,
  ),
};

const pageBounds = { initial: ordersPerPageDefault, max: ordersPerPageMax };

export const listOrders: Declaration = {
  method: "GET",
  path: "/store/orders",
  scope: "orders:read",
  stability: "stable",
  contract: {
    tag: "Orders",
    summary: "List orders",
    description: `Returns one page of orders, newest first (by descending \`id\`). If there are older orders, \`Link\` contains the URL of the next page. Follow it until a response has no \`Link\`. New orders do not shift the pages.`,
    parameters: [
      {
        name: "limit",
        in: "query",
        description: "The maximum number of orders on the page.",
        schema: { ...boundedInteger(1, ordersPerPageMax), default: ordersPerPageDefault },
        example: 100,
      },
      {
        name: "after",
        in: "query",
        description:
          "The last `id` of the previous page. The page starts with the largest `id` below it.",
        schema: int64("The ID of an order."),
        example: 1042,
      },
    ],
    success: {
      200: {
        description: "One page of orders.",
        headers: ["NextPage"],
        schema: { type: "array", items: reference("schemas", "Order") },
        examples: {
          page: {
            summary: "A placed order and a delivered order",
            value: [
              exampleOrder,
              {
                ...exampleOrder,
                id: 1041,
                shipDate: null,
                status: "delivered",
                complete: true,
              },
            ],
          },
        },
      },
    },
    errors: ["invalid_request"],
    messages: {
      invalid_request: {
        invalid_limit: limitRule(ordersPerPageMax),
        invalid_after: afterRule,
      },
    },
  },
  async handle({ store }, call) {
    const query = queryOf(call.request);
    const limit = readLimit(query, pageBounds);
    const after = readAfter(query);
    // One more than requested shows whether there is a next page.
    const found = await store.catalogue.listOrders({ after, limit: limit + 1 });
    const orders = found.slice(0, limit);
    const body = `[${orders.map(orderJson).join()}]`;
    if (found.length <= limit) return { status: 200, body };
    const { basePath, path } = call.operation;
    const next = `${basePath}${path}?limit=${limit}&after=${orders.at(-1)!.id}`;
    return { status: 200, body, headers: { Link: `<${next}>; rel="next"` } };
  },
};

function orderJson(order: Order): string {
  const { quantity, status, complete } = order;
  const shipDate = isoOrNull(order.shipDate);
  const rest = JSON.stringify({ quantity, shipDate, status, complete });
  return `{"id":${order.id},"petId":${order.petId},${rest.slice(1)}`;
}

export const orderOperations = { listOrders };
