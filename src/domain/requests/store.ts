import type { SeqRange } from "../ledger/store.ts";
import type { ErrorCode } from "../running/errors.ts";

/** The error that a request got, as clients and operators see it: without body, query and secrets. */
export interface RequestError {
  /** When it got its response, as an ISO 8601 time. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly durationMs: number;
  readonly userAgent: string | null;
}

/** A request that got an error. Requests that succeeded are in the ledger. */
export interface RefusedRequest {
  readonly requestId: string;
  /** Null without a key, and if the key that was sent is not known. */
  readonly keyId: string | null;
  /** A ledger row from before the request arrived. Rows that it stored, if any, come later. */
  readonly afterSeq: number;
  readonly error: RequestError;
}

/** A request in the order in which all instances have stored them. */
export interface RefusedRow extends RefusedRequest {
  /** Larger than that of every request that was stored before. */
  readonly seq: number;
  /** The current name of the key. */
  readonly keyName: string | null;
}

export interface RequestFilter extends SeqRange {
  /** The id of a key, or `withoutKey`. */
  readonly keyId?: string | undefined;
  readonly code?: string | undefined;
}

/** Stands for requests without a known key. */
export const withoutKey = "none";

/**
 * How many requests the store keeps of one key with the same code, and in total. A client that ignores 429
 * then does not displace its other errors, and a broken till does not displace the errors of others.
 */
export const keptPerCode = 100;
export const keptInTotal = 10_000;

/** The refused and failed requests of all instances. A backup does not contain them. */
export interface RequestStore {
  /** The newest first, at most `rowsMax`. */
  listRequests(filter: RequestFilter, rowsMax: number): Promise<readonly RefusedRow[]>;
  findRequest(requestId: string): Promise<RefusedRow | undefined>;
  /** Adds requests that the store does not have yet, and removes the oldest beyond the bounds. */
  addRequests(requests: readonly RefusedRequest[]): Promise<void>;
  /**
   * Resolves when all updates that began before the call have ended. If the client got its response before
   * the call, the update is then in the ledger, or never will be (docs/outcomes.md).
   */
  awaitUpdates(): Promise<void>;
}
