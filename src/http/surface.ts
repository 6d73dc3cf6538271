import type { Caller, GrantedScope } from "../domain/keys.ts";
import type { MaybePromise } from "../domain/ports.ts";
import type { Operation, Reply } from "./operation.ts";

/**
 * A set of operations under one base path, with one kind of authentication. The public API is one
 * surface. Every surface has its own pipeline; all of them share the server, the rate limits and the
 * shop.
 */
export interface Surface {
  /** Starts with a slash and does not end with one. */
  readonly basePath: string;
  readonly authenticator: Authenticator;
  readonly operations: readonly Operation[];
}

/** Decides who sent a request, and what a request without valid credentials receives. */
export interface Authenticator {
  /**
   * Returns undefined if the credentials are missing or invalid. The caller's `keyId` is the id of a
   * key in the store: counts on PostgreSQL and ledger rows refer to it.
   */
  identify(request: Request): MaybePromise<Caller | undefined>;
  /**
   * The caller that these credentials last belonged to. Used only for the rate limit headers of a
   * response when the store fails. Never use it to admit a request.
   */
  lastKnownCaller(request: Request): Caller | undefined;
  /** The 401 for a request without valid credentials. */
  unauthorized(request: Request): Reply;
  /** The 403 for a caller without the scope that an operation requires. */
  insufficientScope(scope: GrantedScope): Reply;
}
