import { type Order, parseOrderPage } from "../../domain/orders.ts";
import type { Answer, Call, Shop } from "../call.ts";

export async function listOrders(shop: Shop, call: Call): Promise<Answer> {
  const page = parseOrderPage(queryOf(call.request.url));
  // One more than asked for tells whether there is a next page.
  const found = await shop.store.listOrders({ ...page, limit: page.limit + 1 });
  const orders = found.slice(0, page.limit);
  const body = `[${orders.map(orderJson).join()}]`;
  if (found.length <= page.limit) return { status: 200, body };
  const next = `</v1/store/orders?limit=${page.limit}&after=${orders.at(-1)!.id}>; rel="next"`;
  return { status: 200, body, headers: { Link: next } };
}

/** Cut out, not parsed as a URL: a Host header that is no host makes request.url none. */
function queryOf(url: string): URLSearchParams {
  const mark = url.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : url.slice(mark));
}

function orderJson(order: Order): string {
  const { quantity, status, complete } = order;
  const shipDate = order.shipDate === null ? null : new Date(order.shipDate).toISOString();
  const rest = JSON.stringify({ quantity, shipDate, status, complete });
  return `{"id":${order.id},"petId":${order.petId},${rest.slice(1)}`;
}
