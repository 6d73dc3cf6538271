import type { Network } from "../../domain/values/networks.ts";
import { createTrust } from "./client-address.ts";

/** Where the client of a request reaches the service: directly, or at a proxy in front of it. */
export type PublicOrigin = ReturnType<typeof createPublicOrigin>;

/**
 * Reads X-Forwarded-Proto and X-Forwarded-Host if a trusted proxy sent the request. Anybody else could
 * have made them up. `isTls` says whether this service itself accepts only TLS. `socketAddressOf` returns
 * the address at the other end of the connection.
 */
export function createPublicOrigin(
  trustedProxies: readonly Network[],
  isTls: boolean,
  socketAddressOf: (request: Request) => string | undefined,
) {
  const isTrusted = createTrust(trustedProxies);
  const forwarded = (request: Request, name: string): string | undefined => {
    const value = request.headers.get(name);
    if (value === null || trustedProxies.length === 0) return undefined;
    return isTrusted(socketAddressOf(request) ?? "") ? value.trim() : undefined;
  };
  return {
    /** Whether the client is known to use TLS. */
    isSecure(request: Request): boolean {
      if (isTls) return true;
      // Each proxy of a chain may have added its own. The client uses TLS if all say so.
      const protocols = forwarded(request, "x-forwarded-proto")?.split(",");
      return protocols?.every((one) => one.trim().toLowerCase() === "https") ?? false;
    },
    /** The host, with its port, that the client uses; null if the request has none. */
    hostOf: (request: Request) =>
      forwarded(request, "x-forwarded-host") ?? request.headers.get("host"),
  };
}
