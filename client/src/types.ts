// Generated from openapi.json by generate-types.ts. Do not edit.

export const petStatusValues = ["available", "pending", "sold"] as const;

/** Where a pet stands: `available` to buy, `pending` while a sale is under way, `sold` once it is done. */
export type PetStatus = (typeof petStatusValues)[number];

/** How much of one pet is in stock. */
export interface InventoryItem {
  /** The pet this stock belongs to. Keep all 64 bits: see *Numbers*. */
  readonly petId: bigint;
  /** How many there are now. */
  readonly quantity: number;
  /** The pet's own status. A stock update leaves it as it is. */
  readonly status: PetStatus;
}

/** A new count for one pet. Fields that are not listed here are ignored. */
export interface InventoryUpdate {
  /** How many there are from now on: the whole count, not a difference. `5`, `5.0` and `5e0` are the same integer. */
  readonly quantity: number;
}

/** A pet as the catalogue knows it. */
export interface Pet {
  /** The pet's identifier; the inventory calls it `petId`. */
  readonly id: bigint;
  /** What the pet is called. */
  readonly name: string;
  /** Its kind; null where none was given. */
  readonly category: string | null;
  /** Addresses of pictures, in the order in which to show them. */
  readonly photoUrls: readonly string[];
  /** Free words by which the shop sorts its pets. */
  readonly tags: readonly string[];
  /** The same status as in the pet's inventory entry. */
  readonly status: PetStatus;
}

export const orderStatusValues = ["placed", "approved", "delivered"] as const;

/** How far an order is: `placed`, then `approved`, then `delivered`. */
export type OrderStatus = (typeof orderStatusValues)[number];

/** One order. Orders are records only: they do not move stock. */
export interface Order {
  /** The order's identifier. */
  readonly id: bigint;
  /** The pet that was ordered. */
  readonly petId: bigint;
  /** How many were ordered. */
  readonly quantity: number;
  /** When it ships, in UTC; null while no date is set. */
  readonly shipDate: string | null;
  /** How far the order is. */
  readonly status: OrderStatus;
  /** Whether nothing is left to be done for it. */
  readonly complete: boolean;
}

/** What went wrong, as a word a program can switch over. Each code has one status: `invalid_request` 400, `unauthorized` 401, `insufficient_scope` 403, `not_found` 404, `method_not_allowed` 405, `idempotency_conflict` 409, `gone` 410, `precondition_failed` 412, `payload_too_large` 413, `unsupported_media_type` 415, `idempotency_key_reused` 422, `rate_limit_exceeded` 429, `key_banned` 429, `internal_error` 500, `unavailable` 503. A later version may add codes; treat one you do not know by its status. */
export type ErrorCode =
  | "invalid_request"
  | "unauthorized"
  | "insufficient_scope"
  | "not_found"
  | "method_not_allowed"
  | "idempotency_conflict"
  | "gone"
  | "precondition_failed"
  | "payload_too_large"
  | "unsupported_media_type"
  | "idempotency_key_reused"
  | "rate_limit_exceeded"
  | "key_banned"
  | "internal_error"
  | "unavailable"
  | (string & {});

/** The body of every refusal. */
export interface ErrorBody {
  readonly code: ErrorCode;
  /** The same for a person: which field or header, and which rule. Do not parse it. */
  readonly message: string;
  /** The HTTP status of the answer once more, for bodies that got separated from it. */
  readonly status: number;
}
