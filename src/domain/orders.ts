import { Refusal } from "./errors.ts";
import { parseInt64 } from "./values/int64.ts";

export const orderStatuses = ["placed", "approved", "delivered"] as const;
export type OrderStatus = (typeof orderStatuses)[number];

export interface Order {
  readonly id: bigint;
  readonly petId: bigint;
  readonly quantity: number;
  /** Milliseconds since 1970, or null while no date is set. */
  readonly shipDate: number | null;
  readonly status: OrderStatus;
  readonly complete: boolean;
}

export interface OrderRecord extends Order {
  readonly line: number;
}

export interface OrderPage {
  /** Only orders with a smaller id; null starts at the newest. */
  readonly after: bigint | null;
  readonly limit: number;
}

export const ordersPerPageDefault = 100;
export const ordersPerPageMax = 1000;

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
