import type { Caller, GrantedScope } from "../../domain/keys/keys.ts";
import type { Head } from "../../domain/ledger/store.ts";
import type { MaybePromise, Trace } from "../../domain/running/clock.ts";
import type { ErrorCode } from "../../domain/running/errors.ts";
import type { Shop } from "../../domain/shop/shop.ts";
import type { AdminParts } from "../admin/parts.ts";
import type { Feed } from "../feed/feed.ts";
import type { ListBodies, ListBody } from "../list/body.ts";
import type { ListEncodings } from "../list/encodings.ts";
import type { InventoryList } from "../list/list.ts";
import type { HeaderTemplate } from "../messages/headers.ts";
import type { PublicOrigin } from "../messages/public-origin.ts";
import type { SnapshotResponses } from "../snapshots/responses.ts";

/** One operation of a surface: one method on one path. */
export interface Operation {
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Relative to the surface's base path; parameters in braces. */
  readonly path: string;
  readonly scope: GrantedScope;
  /** Responses of an operation that is not stable have the header `X-Stability`. */
  readonly stability: "stable" | "beta" | "experimental";
  readonly deprecation?: Deprecation;
  /** The `Cache-Control` of its successful responses. By default, GET has `no-cache`. */
  readonly cacheControl?: string;
  /** The request body it reads. An operation without this field ignores any body. */
  readonly body?: BodyRule;
  /** Requests with other names get 400. Undefined where the specification lets them be ignored. */
  readonly known?: KnownNames;
  readonly handle: (context: Context, call: Call) => MaybePromise<Reply>;
}

/** The names that requests to an operation can use. */
export interface KnownNames {
  readonly query: readonly string[];
  /** The fields of the body, if it is a JSON object. */
  readonly fields: readonly string[];
}

/** Times in milliseconds since 1970. */
export interface Deprecation {
  readonly since: number;
  /** From this time on the operation returns 410. */
  readonly sunsetAt: number;
}

export interface BodyRule {
  /** The values of `Content-Type` that are accepted, in lower case. */
  readonly mediaTypes: readonly string[];
  readonly bytesMax: number;
}

/** Everything that operations use: the shop, the list as bytes, long responses, the feed, and more. */
export interface Context extends Shop {
  readonly list: {
    readonly versions: InventoryList;
    readonly encodings: ListEncodings;
    readonly bodies: ListBodies;
  };
  readonly snapshots: SnapshotResponses;
  readonly feed: Feed;
  /** What only the operator API uses. */
  readonly admin: AdminParts;
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

/** A request from Bun's router, with its path parameters. */
export type IncomingRequest = Request & { readonly params?: Readonly<Record<string, string>> };

/** An authenticated request within its rate limit, for an operation to handle. */
export interface Call {
  readonly request: IncomingRequest;
  readonly requestId: string;
  readonly caller: Caller;
  /** Identified the caller. A response that stays open asks again. */
  readonly authenticator: {
    identify(request: Request, origin: PublicOrigin): MaybePromise<Caller | undefined>;
  };
  /** Tells where the client reaches the service. */
  readonly origin: PublicOrigin;
  readonly operation: RoutedOperation;
  /** Set if the request is traced. */
  readonly trace: Trace | undefined;
  /** The store's head when the request arrived, if the engine knows it without a wait. */
  readonly head: Head | undefined;
  /** Sets how long the connection may be silent. 0 means any time. */
  setIdleTimeout(seconds: number): void;
}

/** A response without the headers that all responses have. */
export interface Reply {
  readonly status: number;
  readonly body: string | ListBody | null;
  /** The length of a body that is a stream. */
  readonly streamBytes?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The value of the header ETag. Faster than in `headers`, for responses that all differ in it. */
  readonly etag?: string;
  /** All headers of a response that is sent often, prepared. `headers` is then not used. */
  readonly template?: HeaderTemplate;
  /** How long the connection may be silent during this response, if not as long as any other. */
  readonly idleTimeoutSeconds?: number;
  /** Set on errors. */
  readonly errorCode?: ErrorCode;
  /** What was thrown, for the log. Set on errors of the service itself: 500 and 503. */
  readonly failure?: unknown;
}
