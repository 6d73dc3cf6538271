import type { PetStatus } from "./types.js";

/** The stock of one pet at one moment. */
export interface Stock {
  /** The number in stock. */
  readonly quantity: number;
  /** The status of the pet. */
  readonly status: PetStatus;
}

/** An entry after a change of a batch. */
export interface VersionedItem extends Stock {
  /** The ID of the pet. It can be larger than 2^53. */
  readonly petId: bigint;
  /** The `seq` of the change. Pass it as `expectedVersion` to a later batch. */
  readonly version: number;
}

/** What caused a change. Later versions of the service can add causes. */
export type Cause = "api" | "import" | "undo" | (string & {});

/** One row of the ledger: one change of one entry. */
export interface LedgerRow {
  /** The position in the ledger. The first row has 1, and there are no gaps. */
  readonly seq: number;
  /** The ID of the pet. It can be larger than 2^53. */
  readonly petId: bigint;
  /** The stock before the change, or null if the pet was new. */
  readonly before: Stock | null;
  /** The stock after the change, or null if the pet was removed. */
  readonly after: Stock | null;
  /** What caused the change. */
  readonly cause: Cause;
  /** The ID of the API key that made the change, or null. */
  readonly keyId: string | null;
  /** The name of that key, or null. */
  readonly keyName: string | null;
  /** The reason given with the change, or null. */
  readonly reason: string | null;
  /** The `X-Request-Id` of the request that made the change, or null. */
  readonly requestId: string | null;
  /** The time of the change, in UTC. */
  readonly at: string;
}

/** The end of the ledger. Keep `seq` and `hash` to check later that no row up to it was changed. */
export interface LedgerHead {
  /** The `seq` of the last row, or 0 if the ledger is empty. */
  readonly seq: number;
  /** The hash of the last row, which covers all rows before it: 64 hexadecimal digits. */
  readonly hash: string;
  /** The time of the last row in UTC, or null if the ledger is empty. */
  readonly at: string | null;
}

/** An entry that differs between two moments. */
export interface InventoryDifference {
  /** The ID of the pet. It can be larger than 2^53. */
  readonly petId: bigint;
  /** The stock at the first moment, or null if there was no entry. */
  readonly before: Stock | null;
  /** The stock at the second moment, or null if there was no entry. */
  readonly after: Stock | null;
}
