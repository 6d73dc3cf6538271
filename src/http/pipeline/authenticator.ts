import type { Caller, GrantedScope } from "../../domain/keys/keys.ts";
import type { MaybePromise } from "../../domain/running/clock.ts";
import type { PublicOrigin } from "../messages/public-origin.ts";
import type { Reply } from "../messages/reply.ts";

/** Decides who sent a request, and what a request without valid credentials receives. */
export interface Authenticator {
  /**
   * Returns undefined if the credentials are missing or invalid. The caller's `keyId` is the id of a
   * key in the store: counts on PostgreSQL and ledger rows refer to it.
   */
  identify(request: Request, origin: PublicOrigin): MaybePromise<Caller | undefined>;
  /**
   * The caller that these credentials last belonged to. Used only for the rate limit headers of a
   * response when the store fails. Never use it to admit a request.
   */
  lastKnownCaller(request: Request, origin: PublicOrigin): Caller | undefined;
  /** Throws if a page of another origin may have sent the request. For requests that change something. */
  rejectForeign?(received: { readonly request: Request; readonly origin: PublicOrigin }): void;
  /** Changes whenever a caller may not be valid any more, except by expiry. */
  version?(): number;
  /** The 401 for a request without valid credentials. */
  unauthorized(request: Request): Reply;
  /** The 403 for a caller without the scope that an operation requires. */
  insufficientScope(scope: GrantedScope): Reply;
}
