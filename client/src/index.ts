// The public API of the package. Everything that is not exported here is internal.

export { type ListOrdersOptions, type OrderPage, PetstoreClient } from "./client.js";
export type { Clock } from "./clock.js";
export {
  ApiError,
  type ApiErrorCode,
  isApiError,
  isNetworkError,
  isTimeoutError,
  NetworkError,
  type PetstoreError,
  TimeoutError,
} from "./errors.js";
export type {
  Attempt,
  DeprecationNotice,
  Hooks,
  Operation,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
} from "./hooks.js";
export type { Id } from "./id.js";
export { jsonReplacer } from "./json.js";
export type { Limits } from "./limits.js";
export type {
  ApiKey,
  Budget,
  CallOptions,
  ClientOptions,
  Fetch,
  HeaderOptions,
  UpdateOptions,
} from "./options.js";
export type { ApiPromise, WithResponse } from "./promise.js";
export type { RawResponse } from "./response.js";
export type {
  ErrorCode,
  InventoryItem,
  InventoryUpdate,
  Order,
  OrderStatus,
  Pet,
  PetStatus,
} from "./types.js";
export { version } from "./version.js";
