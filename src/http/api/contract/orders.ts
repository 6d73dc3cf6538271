import { ordersPerPageDefault, ordersPerPageMax } from "../../../domain/orders.ts";
import { afterRule, limitRule } from "../parameters.ts";
import type { Contract } from "./operation.ts";
import { exampleOrder, int64, reference, wholeNumber } from "./schemas.ts";

export const listOrders: Contract = {
  tag: "Orders",
  summary: "List the orders, newest first",
  description: `Gives one page of orders by descending \`id\`. While there are older ones, \`Link\` holds the address of the next page; follow it until an answer comes without. Orders that arrive meanwhile do not shift the pages.`,
  parameters: [
    {
      name: "limit",
      in: "query",
      description: "How many orders a page may have.",
      schema: { ...wholeNumber(1, ordersPerPageMax), default: ordersPerPageDefault },
      example: 100,
    },
    {
      name: "after",
      in: "query",
      description: "The last `id` of the page before; this page begins with the next smaller one.",
      schema: int64("An order's identifier."),
      example: 1042,
    },
  ],
  success: {
    200: {
      description: "One page of orders.",
      headers: ["NextPage", "CacheCurrent"],
      schema: { type: "array", items: reference("schemas", "Order") },
      examples: {
        page: {
          summary: "A placed order, and a delivered one",
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
  invalid: {
    limit: limitRule(ordersPerPageMax),
    after: afterRule,
  },
};
