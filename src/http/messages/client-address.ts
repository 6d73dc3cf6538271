import { BlockList, isIP } from "node:net";
import type { Network } from "../../domain/values/networks.ts";

/**
 * Returns a function that determines the client's address. It is the address of the socket, unless
 * that is a trusted proxy. Then it is the last address in X-Forwarded-For that is not a trusted
 * proxy; the client could have written everything before it. The header Forwarded (RFC 7239) is not
 * read, because proxies that write X-Forwarded-For often pass on the client's Forwarded unchanged.
 */
export function createAddressReader(trustedProxies: readonly Network[]) {
  const isTrusted = createTrust(trustedProxies);
  return (socketAddress: string, headers: Headers): string => {
    let address = socketAddress;
    if (!isTrusted(address)) return address;
    const hops = (headers.get("x-forwarded-for") ?? "").split(",").reverse();
    for (const hop of hops) {
      const next = withoutPort(hop.trim());
      if (isIP(next) === 0) break;
      address = next;
      if (!isTrusted(address)) break;
    }
    return address;
  };
}

/** Returns a function that checks whether an address belongs to a trusted proxy. */
export function createTrust(trustedProxies: readonly Network[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false;
  const trusted = new BlockList();
  for (const { address, prefix, family } of trustedProxies) {
    trusted.addSubnet(address, prefix, family === 6 ? "ipv6" : "ipv4");
  }
  return (address) => trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Removes port and brackets from `192.0.2.1:5678` and `[2001:db8::1]:5678`. */
function withoutPort(hop: string): string {
  const [, ipv6, ipv4] = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/i.exec(hop) ?? [];
  if (ipv6 !== undefined) return isIP(ipv6) === 6 ? ipv6 : hop;
  return ipv4 ?? hop;
}
