import { safeIntegerAsWritten } from "../values/int64.ts";
import { JsonNumber } from "../values/json.ts";

export const petStatuses = ["available", "pending", "sold"] as const;
export type PetStatus = (typeof petStatuses)[number];

export function isPetStatus(value: unknown): value is PetStatus {
  return (petStatuses as readonly unknown[]).includes(value);
}

/** One pet's quantity and status. */
export interface Stock {
  readonly quantity: number;
  readonly status: PetStatus;
}

/** One pet's stock in the inventory. `version` is the `seq` of the ledger row that last changed it. */
export interface Entry extends Stock {
  readonly petId: bigint;
  readonly version: number;
}

/** The largest integer that every JSON client reads exactly: 2^53 - 1. */
export const quantityMax = Number.MAX_SAFE_INTEGER;

export const quantityRule = `must be an integer from 0 to ${quantityMax}`;

/** Returns the quantity that a JSON value denotes, or undefined if it breaks the rule. */
export function readQuantity(value: unknown): number | undefined {
  if (!(value instanceof JsonNumber)) return undefined;
  const quantity = safeIntegerAsWritten(value.source);
  return quantity === undefined || quantity < 0 ? undefined : quantity;
}

/** The message of every operation for an unknown petId. */
export const petNotFound = "No pet with this petId is in the store.";
