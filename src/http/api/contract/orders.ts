import { ordersPerPageDefault, ordersPerPageMax } from "../../../domain/catalogue/orders.ts";
import { afterRule, limitRule } from "../parameters.ts";
import { exampleOrder } from "./examples.ts";
import type { Contract } from "./operation.ts";
import { boundedInteger, int64, reference } from "./schema.ts";

export const listOrders: Contract = {
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
      headers: ["NextPage", "CacheCurrent"],
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
};
