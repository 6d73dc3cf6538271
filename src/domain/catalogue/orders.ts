export const orderStatuses = ["placed", "approved", "delivered"] as const;
export type OrderStatus = (typeof orderStatuses)[number];

export interface Order {
  readonly id: bigint;
  readonly petId: bigint;
  readonly quantity: number;
  /** Milliseconds since 1970, or null if no date is set. */
  readonly shipDate: number | null;
  readonly status: OrderStatus;
  readonly complete: boolean;
}

export interface OrderRecord extends Order {
  readonly line: number;
  /** The row breaks a rule. It is not imported, but its id counts. */
  readonly isBad?: boolean;
}

export interface OrderPage {
  /** Only orders with a smaller id; null starts at the newest. */
  readonly after: bigint | null;
  readonly limit: number;
}

export const ordersPerPageDefault = 100;
export const ordersPerPageMax = 1000;
