import { Refusal } from "../../domain/errors.ts";
import {
  type Order,
  type OrderPage,
  ordersPerPageDefault,
  ordersPerPageMax,
} from "../../domain/orders.ts";
import { parseInt64 } from "../../domain/values/int64.ts";
import type { Answer, Call, Context } from "../call.ts";

export async function listOrders(shop: Context, call: Call): Promise<Answer> {
  const page = parseOrderPage(queryOf(call.request.url));
  // One more than asked for tells whether there is a next page.
  const found = await shop.store.catalogue.listOrders({ ...page, limit: page.limit + 1 });
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

export function parseOrderPage(query: URLSearchParams): OrderPage {
  const limitText = single(query, "limit");
  let limit = ordersPerPageDefault;
  if (limitText !== undefined) {
    limit = /^[1-9][0-9]{0,3}$/.test(limitText) ? Number(limitText) : Number.NaN;
    if (!(limit <= ordersPerPageMax)) {
      throw new Refusal(
        "invalid_request",
        `Parameter 'limit' must be an integer from 1 to ${ordersPerPageMax}.`,
      );
    }
  }
  const afterText = single(query, "after");
  const after = afterText === undefined ? null : parseInt64(afterText);
  if (after === undefined) {
    throw new Refusal(
      "invalid_request",
      "Parameter 'after' must be the id of an order: a 64-bit integer in decimal digits.",
    );
  }
  return { after, limit };
}

function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) {
    throw new Refusal("invalid_request", `Parameter '${name}' may be given only once.`);
  }
  return values[0];
}
