// Generated from openapi.json by scripts/types.ts. Do not edit.

/** The operations of the service, by their `operationId` in openapi.json. */
export type Operation =
  | "listInventory"
  | "getInventory"
  | "updateInventory"
  | "listHistory"
  | "listChanges"
  | "applyChanges"
  | "getLedgerHead"
  | "getRequest"
  | "getSnapshot"
  | "getDiff"
  | "getPet"
  | "listOrders";

export const petStatusValues = ["available", "pending", "sold"] as const;

/** The sales status of a pet: `available` for sale, `pending` while a sale is in progress, or `sold`. */
export type PetStatus = (typeof petStatusValues)[number];

/** The stock of one pet. */
export interface InventoryItem {
  /** The ID of the pet. It can be larger than 2^53. */
  readonly petId: bigint;
  /** The number in stock. */
  readonly quantity: number;
  /** The status of the pet. Stock updates do not change it. */
  readonly status: PetStatus;
}

/** A new stock count for one pet. Unknown fields are ignored. */
export interface InventoryUpdate {
  /** The new number in stock: the total, not a difference. `5`, `5.0` and `5e0` are the same integer. */
  readonly quantity: number;
}

/** Sets the stock of one pet. Unknown fields are rejected. */
export interface QuantityChange {
  /** The ID of the pet. */
  readonly petId: bigint;
  /** The new number in stock: the total. */
  readonly quantity: number;
  /** The `version` that the entry must have before this change. Without it, any version is accepted. */
  readonly expectedVersion?: number;
  /** Why the stock changes. The ledger keeps it. Control characters are rejected. */
  readonly reason?: string;
}

/** Adds to the stock of one pet, or takes from it. Unknown fields are rejected. */
export interface DeltaChange {
  /** The ID of the pet. */
  readonly petId: bigint;
  /** The number to add to the stock. Negative numbers take from the stock. The result must be from 0 to 2^53 − 1. */
  readonly delta: number;
  /** The `version` that the entry must have before this change. Without it, any version is accepted. */
  readonly expectedVersion?: number;
  /** Why the stock changes. The ledger keeps it. Control characters are rejected. */
  readonly reason?: string;
}

/** A change to the stock of one pet. It has either `quantity` or `delta`. */
export type StockChange = QuantityChange | DeltaChange;

/** Changes that are stored together or not at all. Unknown fields are rejected. */
export interface StockChanges {
  /** The changes, in the order in which they are applied. A pet can appear more than once. */
  readonly changes: readonly StockChange[];
  /** True to see what the changes would do. They are checked, and not stored. */
  readonly dryRun?: boolean;
}

/** The stock of one pet, with its version. */
export interface VersionedItem extends InventoryItem {
  /** The version of the entry: the number of the change that made it. Send it as `expectedVersion`. */
  readonly version: number;
  /** The stock before the change. Only in the response to a dry run. */
  readonly before?: Stock;
}

/** The results of a batch of changes. */
export interface AppliedChanges {
  /** The entry after each change, in the order of the request. In a dry run, as it would be, with its current `version`. */
  readonly entries: readonly VersionedItem[];
  /** True if nothing was stored. Only in the response to a dry run. */
  readonly dryRun?: boolean;
}

/** A pet in the catalogue. */
export interface Pet {
  /** The ID of the pet. The inventory calls it `petId`. */
  readonly id: bigint;
  /** The name of the pet. */
  readonly name: string;
  /** The category of the pet, or null. */
  readonly category: string | null;
  /** URLs of photos, in display order. */
  readonly photoUrls: readonly string[];
  /** Labels that the store uses to group pets. */
  readonly tags: readonly string[];
  /** The barcode of the pet. No other pet has it. */
  readonly barcode?: string;
  /** The stock of the pet is low at this quantity and below. */
  readonly lowStockAt?: number;
  /** The status of the pet. Its inventory entry has the same status. */
  readonly status: PetStatus;
}

export const orderStatusValues = ["placed", "approved", "delivered"] as const;

/** The progress of an order: `placed`, then `approved`, then `delivered`. */
export type OrderStatus = (typeof orderStatusValues)[number];

/** An order. Orders do not change the stock. */
export interface Order {
  /** The ID of the order. */
  readonly id: bigint;
  /** The ID of the ordered pet. */
  readonly petId: bigint;
  /** The number ordered. */
  readonly quantity: number;
  /** The shipping date and time in UTC, or null if none is set. */
  readonly shipDate: string | null;
  /** The progress of the order. */
  readonly status: OrderStatus;
  /** Whether the order is complete. */
  readonly complete: boolean;
}

/** The quantity and the status of a pet at one moment. */
export interface Stock {
  /** The number in stock. */
  readonly quantity: number;
  /** The status of the pet. */
  readonly status: PetStatus;
}

/** One change to the stock of one pet. Rows are never changed or removed. */
export interface LedgerRow {
  /** The number of the row. Rows are numbered from 1 without gaps, in the order in which they were stored. */
  readonly seq: number;
  /** The ID of the pet. */
  readonly petId: bigint;
  /** The stock before the change, or null if the change added the pet. */
  readonly before: Stock | null;
  /** The stock after the change, or null if the change removed the pet. */
  readonly after: Stock | null;
  /** What caused the change: `api` for a request, `import` for an import by an operator, `undo` for an operator who undid an earlier change, `console` for an operator who changed the stock in the console or with the operator API, `count` for a stocktake. Later versions can add causes. */
  readonly cause: string;
  /** The ID of the API key or operator key, or null if no key caused the change. */
  readonly keyId: string | null;
  /** The current name of that key, or null if the key is not known. */
  readonly keyName: string | null;
  /** The reason that the client or operator gave, or null. */
  readonly reason: string | null;
  /** The `X-Request-Id` of the request that caused the change, or null. */
  readonly requestId: string | null;
  /** When the change was stored, in UTC with milliseconds. It never decreases from row to row. Several rows can have the same time. */
  readonly at: string;
}

/** The end of the ledger. */
export interface LedgerHead {
  /** The number of the last row, or 0 if the ledger is empty. */
  readonly seq: number;
  /** The hash of the last row, in hexadecimal digits. It covers all rows up to this one. The hash of an empty ledger is the SHA-256 of an empty string. */
  readonly hash: string;
  /** When the last row was stored, or null if the ledger is empty. */
  readonly at: string | null;
}

/** The stock of one pet at two moments. */
export interface InventoryDifference {
  /** The ID of the pet. It can be larger than 2^53. */
  readonly petId: bigint;
  /** The stock at the first moment, or null if the pet had no entry. */
  readonly before: Stock | null;
  /** The stock at the second moment, or null if the pet had no entry. */
  readonly after: Stock | null;
}

/** The error that a request got. Its body, its query and secrets are not kept. */
export interface RequestError {
  /** When the response was sent. */
  readonly at: string;
  /** The method. */
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  /** The status of the response. */
  readonly status: number;
  /** The error code of the response. */
  readonly code: string;
  /** The message of the response. */
  readonly message: string;
  /** From the arrival of the request until its response, in milliseconds. */
  readonly durationMs: number;
  /** The header `User-Agent`, or null. */
  readonly userAgent: string | null;
}

/** `refused`: it got a 4xx. `failed`: it got a 5xx. Nothing was stored then, and nothing will be. `stored`: `changes` has what it stored. `unknown`: none of these is certain. */
export type RequestOutcomeOutcome = "refused" | "failed" | "stored" | "unknown";

/** What became of a request. */
export interface RequestOutcome {
  /** The ID of the request. */
  readonly requestId: string;
  readonly outcome: RequestOutcomeOutcome;
  /** What to do now, in a sentence or two. */
  readonly advice: string;
  /** The error that it got, or null if none is known. */
  readonly error: RequestError | null;
  /** What it stored. At most 1,000 rows. */
  readonly changes: readonly LedgerRow[];
}

/** The error code, for programs. Each code has one HTTP status: `invalid_request` 400, `unauthorized` 401, `insufficient_scope` 403, `not_found` 404, `method_not_allowed` 405, `idempotency_conflict` 409, `insufficient_stock` 409, `version_conflict` 409, `gone` 410, `precondition_failed` 412, `payload_too_large` 413, `unsupported_media_type` 415, `idempotency_key_reused` 422, `rate_limit_exceeded` 429, `key_banned` 429, `internal_error` 500, `unavailable` 503. Later versions can add codes. Handle an unknown code by its status. */
export type ErrorCode =
  | "invalid_request"
  | "unauthorized"
  | "insufficient_scope"
  | "not_found"
  | "method_not_allowed"
  | "idempotency_conflict"
  | "insufficient_stock"
  | "version_conflict"
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

/** The body of every error response. */
export interface ErrorBody {
  readonly code: ErrorCode;
  /** The error message, for people. It names the field or header and the rule. Do not parse it. */
  readonly message: string;
  /** The HTTP status of the response. */
  readonly status: number;
}

/** The body of an error response to a batch. `code` and `message` are about the first line that is at fault. */
export interface BatchError extends ErrorBody {
  /** Every line that is at fault, in the order of the request. Each line is judged as if the others in this list were not in the request. */
  readonly details?: readonly FailedLine[];
}

/** A line of a batch that breaks a rule, so nothing of the batch was stored. */
export interface FailedLine {
  /** The index of the line, from 0. */
  readonly index: number;
  /** The ID of its pet. */
  readonly petId: bigint;
  /** What is wrong with this line: an error code. */
  readonly code: string;
  /** How many it takes. Only if it takes more than there are. */
  readonly requested?: number;
  /** How many there are for it: the lines before it that are not at fault have taken theirs. Only with `requested`. */
  readonly available?: number;
}

/** Changes that were stored. */
export interface InventoryChanged {
  /** The type of the message. */
  readonly type: "inventory.changed";
  /** When the last of the changes was stored, or when the test was sent. */
  readonly timestamp: string;
  /** The content of the message. */
  readonly data: WebhookData;
}

/** A test that an operator sent. It has no changes. */
export interface WebhookTest {
  /** The type of the message. */
  readonly type: "test";
  /** When the last of the changes was stored, or when the test was sent. */
  readonly timestamp: string;
  /** The content of the message. */
  readonly data: WebhookData;
}

/** The content of a message. */
export interface WebhookData {
  /** In ascending order of `seq`. A change can come again. */
  readonly changes: readonly LedgerRow[];
  /** The position of the last change. The feed accepts it as `after`. */
  readonly cursor: string;
}
