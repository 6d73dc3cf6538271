import type { operatorScope } from "../../domain/keys/keys.ts";
import type { Operation } from "../pipeline/operation.ts";
import type { AdminContract } from "./contract/operation.ts";

/** An operation of the operator API. */
export interface AdminOperation extends Operation {
  readonly scope: typeof operatorScope;
  readonly contract: AdminContract;
}

/** A row of the table of operations. What all rows have in common is added to it. */
export type AdminRow = Omit<AdminOperation, "scope" | "stability" | "deprecation" | "cacheControl">;

export interface AdminSettings {
  readonly bodyBytesMax: number;
  readonly changesBytesMax: number;
}
