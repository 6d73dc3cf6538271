import type { Authenticator } from "./authenticator.ts";
import type { Operation } from "./operation.ts";
import type { AddressLimiter } from "./rate-limits.ts";

/**
 * A set of operations under one base path, with one kind of authentication. The public API is one
 * surface, the operator API another one. Every surface has its own pipeline; all of them share the
 * server, the rate limits and the shop.
 */
export interface Surface {
  /** Starts with a slash and does not end with one. */
  readonly basePath: string;
  readonly authenticator: Authenticator;
  readonly operations: readonly Operation[];
  /** Precedes the ids of its operations in logs, metrics and traces. The API has none. */
  readonly name?: string;
  /** On every response, whatever its status. By default there are none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Limits requests without valid credentials. By default, surfaces share a limiter. */
  readonly addresses?: AddressLimiter;
  /** Called for every request without valid credentials, with the address of its client. */
  readonly refused?: (request: Request, address: string) => void;
  /** True if no page of another origin may read its responses, whatever the settings are. */
  readonly isSameOriginOnly?: boolean;
}

/** The id of an operation, unique among those of all surfaces. */
export function fullIdOf({ name }: Pick<Surface, "name">, { id }: Pick<Operation, "id">): string {
  return name === undefined ? id : `${name}.${id}`;
}
