import type { DescribedOperation } from "../api/contract/description.ts";

/** An operation with its method and path. */
export interface Endpoint {
  readonly path: string;
  readonly method: string;
  readonly operation: DescribedOperation;
}
