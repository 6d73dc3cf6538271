// The one entrance of the package: what is not named here is not public.

export { type Id, type ListOrdersOptions, type OrderPage, PetstoreClient } from "./client.js";
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
export type { Limits } from "./limits.js";
export type { Budget, CallOptions, ClientOptions, Fetch } from "./options.js";
export type {
  ErrorCode,
  InventoryItem,
  InventoryUpdate,
  Order,
  OrderStatus,
  Pet,
  PetStatus,
} from "./types.js";
