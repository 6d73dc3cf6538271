// The public API of the package. Everything that is not exported here is internal.

export type { ComputeQuantity } from "./adjust.js";
export type { ApplyOptions, DeltaChange, QuantityChange, StockChange } from "./changes.js";
export { PetstoreClient } from "./client.js";
export type { Clock } from "./clock.js";
export type { InventoryEntry } from "./entry.js";
export {
  ApiError,
  type ApiErrorCode,
  ConflictError,
  isApiError,
  isConflictError,
  isNetworkError,
  isTimeoutError,
  NetworkError,
  type PetstoreError,
  TimeoutError,
} from "./errors.js";
export type { WatchChange, WatchEvent, WatchReset, WatchStart } from "./feed-reader.js";
export type {
  Attempt,
  DeprecationNotice,
  Hooks,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
} from "./hooks.js";
export type { Id } from "./id.js";
export { InventoryClient } from "./inventory-client.js";
export { jsonReplacer } from "./json.js";
export type {
  Cause,
  ChangesOptions,
  ChangesPage,
  HistoryOptions,
  HistoryPage,
} from "./ledger.js";
export type { Limits } from "./limits.js";
export type { Instant, Moment } from "./moment.js";
export type {
  AdjustOptions,
  ApiKey,
  Budget,
  CallOptions,
  ClientOptions,
  Fetch,
  HeaderOptions,
  UpdateOptions,
  WriteOptions,
} from "./options.js";
export type { ListOrdersOptions, OrderPage } from "./orders.js";
export type { ApiPromise, WithResponse } from "./promise.js";
export type { RawResponse } from "./response.js";
export * from "./types.js";
export { version } from "./version.js";
export type { Watch, WatchOptions } from "./watch.js";
export { type VerifyWebhookOptions, verifyWebhook, type WebhookPayload } from "./webhook.js";
export {
  isWebhookVerificationError,
  WebhookVerificationError,
  type WebhookVerificationReason,
} from "./webhook-error.js";
export type { WebhookHeaders } from "./webhook-headers.js";
