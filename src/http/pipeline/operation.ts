import type { Actor } from "../../domain/audit/audit.ts";
import type { Caller, GrantedScope } from "../../domain/keys/keys.ts";
import type { Head } from "../../domain/ledger/store.ts";
import type { MaybePromise, Trace } from "../../domain/running/clock.ts";
import type { Fields, KnownNames } from "../messages/fields.ts";
import type { HeaderTemplate, SentOnce } from "../messages/headers.ts";
import type { PublicOrigin } from "../messages/public-origin.ts";
import type { Reply } from "../messages/reply.ts";
import type { BodyRule, IncomingRequest } from "../messages/requests.ts";
import type { Authenticator } from "./authenticator.ts";
import type { Context } from "./context.ts";

/** One operation of a surface: one method on one path. One that only reads has no kind. */
export interface Operation extends Partial<Change> {
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Relative to the surface's base path; parameters in braces. */
  readonly path: string;
  /** Undefined if every caller may call it, and it checks scopes by itself. */
  readonly scope?: GrantedScope;
  /** Responses of an operation that is not stable have the header `X-Stability`. */
  readonly stability: "stable" | "beta" | "experimental";
  readonly deprecation?: Deprecation;
  /** The `Cache-Control` of its successful responses. By default, GET has `no-cache`. */
  readonly cacheControl?: string;
  /** The request body it reads. An operation without this field ignores any body. */
  readonly body?: BodyRule;
  /** Requests with other names get 400. Undefined if the specification says to ignore them. */
  readonly known?: KnownNames;
  /** It may take longer than a connection may be silent. The proxies in deploy/proxies/ must wait for it. */
  readonly isLong?: true;
  readonly handle: (context: Context, call: Call) => MaybePromise<Reply>;
}

/**
 * What an operation that changes something does if it is sent twice with the same idempotency key:
 *
 * - `stock`: returns the first result again, which the store remembers.
 * - `repeatable`: finds it done, with or without a key.
 * - `making`: makes nothing again, and says what the first request has made. Never a secret.
 */
export const kinds = ["stock", "repeatable", "making"] as const;
export type Kind = (typeof kinds)[number];

/** How an operation changes something. See gate.ts. */
export interface Change {
  readonly kind: Kind;
  /** Whether the request only tries the change. An operation without it cannot be tried. */
  readonly tries?: (fields: Fields) => boolean;
  /** Reads the fields of the body, instead of any JSON object with known names. */
  readonly parse?: (text: string) => Fields;
  /** Its body is a file. */
  readonly readsFile?: true;
  /** It takes one of the places for long work. */
  readonly takesPlace?: true;
  /** It makes something outside the store, such as a file, which no transaction can contain. */
  readonly isOutside?: true;
  readonly run: (context: Context, call: ChangeCall, fields: Fields) => MaybePromise<Reply>;
}

/** An operation that changes something, as its gate needs it. */
export interface ChangeOperation
  extends Change,
    Pick<Operation, "id" | "method" | "path" | "body" | "known" | "isLong"> {
  readonly scope: GrantedScope;
}

/** A call that has passed the gate. */
export interface ChangeCall extends Call {
  /** Whom the ledger and the audit log name. */
  readonly actor: Actor;
  readonly isDryRun: boolean;
  /** The descriptor of the file that was sent. */
  readonly file: number | undefined;
  /** The request, if its client may send it again. `meaning` is the same for every way to write it. */
  identify(meaning: string): SentOnce | undefined;
}

/** Times in milliseconds since 1970. */
export interface Deprecation {
  readonly since: number;
  /** From this time on the operation returns 410. */
  readonly sunsetAt: number;
}

/** An operation as a part of its route. Its id is unique among all surfaces. */
export interface RoutedOperation extends Operation {
  readonly basePath: string;
  /** The headers of all its responses, errors included. */
  readonly headers: Readonly<Record<string, string>>;
  /** For responses that need no other headers. */
  readonly defaultTemplate: HeaderTemplate;
  /** For responses with an `etag` that need no other headers. */
  readonly taggedTemplate: HeaderTemplate;
}

/** An authenticated request within its rate limit, for an operation to handle. */
export interface Call {
  readonly request: IncomingRequest;
  readonly requestId: string;
  readonly caller: Caller;
  /** Has identified the caller. A response that stays open calls it again. */
  readonly authenticator: Authenticator;
  /** As the connection shows it. */
  readonly origin: PublicOrigin;
  readonly operation: RoutedOperation;
  /** Set if the request is traced. */
  readonly trace: Trace | undefined;
  /** The store's head when the request arrived, if the engine knows it without a wait. */
  readonly head: Head | undefined;
  readonly connections: Connections;
  /**
   * Handles a part of the request as a request of its own: with its own id, count and errors. The first part
   * is counted already.
   */
  runPart(handle: Operation["handle"], isFirst: boolean): Promise<Response>;
}

/** The connections of the HTTP server. One object for all requests. */
export interface Connections {
  /** The address of the client that sent a request. Most requests do not need it. */
  addressOf(request: Request): string;
  /** Sets how long the connection of a request may be silent. 0 means without a limit. */
  setIdleTimeout(request: Request, seconds: number): void;
  /** Tells where clients reach the service. */
  readonly origin: PublicOrigin;
}
