// Made from openapi.json by generate-types.ts; edit that instead.

export const petStatusValues = ["available", "pending", "sold"] as const;

/** Where a pet stands in its sale. */
export type PetStatus = (typeof petStatusValues)[number];

/** The stock entry of one pet. */
export interface InventoryItem {
  /** Identifier of the animal that the entry tracks. */
  readonly petId: bigint;
  /** Current stock count. */
  readonly quantity: number;
  readonly status: PetStatus;
}

/** What a stock update sets. */
export interface InventoryUpdate {
  /** The new stock count. */
  readonly quantity: number;
}

/** The record of one pet. */
export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly category: string | null;
  readonly photoUrls: readonly string[];
  readonly tags: readonly string[];
  readonly status: PetStatus;
}

export const orderStatusValues = ["placed", "approved", "delivered"] as const;

export type OrderStatus = (typeof orderStatusValues)[number];

/** One order of the store. */
export interface Order {
  readonly id: bigint;
  readonly petId: bigint;
  readonly quantity: number;
  /** When it ships; null while that is open. */
  readonly shipDate: string | null;
  readonly status: OrderStatus;
  readonly complete: boolean;
}

export const errorCodeValues = [
  "invalid_request",
  "unauthorized",
  "insufficient_scope",
  "not_found",
  "method_not_allowed",
  "idempotency_conflict",
  "gone",
  "precondition_failed",
  "payload_too_large",
  "unsupported_media_type",
  "idempotency_key_reused",
  "rate_limit_exceeded",
  "key_banned",
  "internal_error",
  "unavailable",
] as const;

/** Machine-readable reason, from a closed set. */
export type ErrorCode = (typeof errorCodeValues)[number];

/** The body of every refusal. */
export interface ErrorBody {
  /** Machine-readable reason, from a closed set. */
  readonly code: ErrorCode;
  /** Human-readable reason. */
  readonly message: string;
  /** The HTTP status, repeated. */
  readonly status: number;
}
