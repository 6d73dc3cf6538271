import {
  type Order,
  ordersPerPageDefault,
  ordersPerPageMax,
} from "../../domain/catalogue/orders.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { queryOf, readAfter, readLimit } from "./parameters.ts";

const pageBounds = { initial: ordersPerPageDefault, max: ordersPerPageMax };

export async function listOrders({ store }: Context, call: Call): Promise<Reply> {
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
}

function orderJson(order: Order): string {
  const { quantity, status, complete } = order;
  const shipDate = order.shipDate === null ? null : new Date(order.shipDate).toISOString();
  const rest = JSON.stringify({ quantity, shipDate, status, complete });
  return `{"id":${order.id},"petId":${order.petId},${rest.slice(1)}`;
}
