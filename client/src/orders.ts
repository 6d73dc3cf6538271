import { readBody } from "./body.js";
import type { Transport } from "./call.js";
import { decodeOrders } from "./decode.js";
import { formatId, type Id } from "./id.js";
import { withToJson } from "./json.js";
import type { CallOptions } from "./options.js";
import { pathWithQuery, readNextPosition } from "./pages.js";
import type { WithResponse } from "./promise.js";
import { sendWithRetries } from "./retry.js";
import type { Order } from "./types.js";

export interface ListOrdersOptions extends CallOptions {
  /** Orders per page, at most 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The page begins after this id. Pass the `nextAfter` of the previous page. */
  readonly after?: Id | undefined;
}

export interface OrderPage {
  /** In descending order of their ids. */
  readonly orders: readonly Order[];
  /** The `after` for the next page, or null on the last page. */
  readonly nextAfter: bigint | null;
}

export async function listOrders(
  transport: Transport,
  options: ListOrdersOptions,
): Promise<WithResponse<OrderPage>> {
  const { limit, after } = options;
  const path = pathWithQuery("/store/orders", {
    limit: limit === undefined ? undefined : String(limit),
    after: after === undefined ? undefined : formatId("after", after),
  });
  const call = { operation: "listOrders", method: "GET", path } as const;
  const response = await sendWithRetries(transport, call, options);
  const orders = readBody(response, decodeOrders);
  const next = readNextPosition(response, transport.settings.baseUrl, "after");
  const nextAfter = next === null ? null : BigInt(next);
  return { value: withToJson({ orders, nextAfter }), response };
}

export async function* eachOrder(
  transport: Transport,
  options: ListOrdersOptions,
): AsyncGenerator<Order, void, undefined> {
  let { after } = options;
  for (;;) {
    const { value: page } = await listOrders(transport, { ...options, after });
    yield* page.orders;
    if (page.nextAfter === null) return;
    after = page.nextAfter;
  }
}
