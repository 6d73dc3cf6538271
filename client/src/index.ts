// The one entrance of the package: what is not named here is not public.

export { type Id, type ListOrdersOptions, type OrderPage, PetstoreClient } from "./client.ts";
export type { Clock } from "./clock.ts";
export {
  ApiError,
  type ApiErrorCode,
  isApiError,
  isNetworkError,
  isTimeoutError,
  NetworkError,
  type PetstoreError,
  TimeoutError,
} from "./errors.ts";
export type { Limits } from "./limits.ts";
export type { Budget, CallOptions, ClientOptions, Fetch } from "./options.ts";
export type {
  ErrorCode,
  InventoryItem,
  InventoryUpdate,
  Order,
  OrderStatus,
  Pet,
  PetStatus,
} from "./types.ts";
