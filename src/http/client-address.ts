import { BlockList, isIP } from "node:net";
import { Refusal } from "../domain/errors.ts";

/**
 * The client's address: the socket's, unless the socket is a trusted proxy's. Then it is the last
 * address in X-Forwarded-For that is not itself a trusted proxy; everything before it could have
 * been written by the client. The header Forwarded (RFC 7239) is not read: proxies that write
 * X-Forwarded-For commonly pass a client's own Forwarded on unchanged.
 */
export function createAddressReader(trustedProxies: readonly string[]) {
  const trusted = new BlockList();
  for (const entry of trustedProxies) addNetwork(trusted, entry);
  const isTrusted = (address: string) =>
    trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

  return (socketAddress: string, headers: Headers): string => {
    let address = socketAddress;
    if (trustedProxies.length === 0 || !isTrusted(address)) return address;
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

/** `192.0.2.1:5678` and `[2001:db8::1]:5678` without port and brackets; anything else as it is. */
function withoutPort(hop: string): string {
  const [, ipv6, ipv4] = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/i.exec(hop) ?? [];
  if (ipv6 !== undefined) return isIP(ipv6) === 6 ? ipv6 : hop;
  return ipv4 ?? hop;
}

function addNetwork(list: BlockList, entry: string): void {
  const [, address = "", bits] = /^([^/]*)(?:\/([0-9]{1,3}))?$/.exec(entry) ?? [];
  const family = isIP(address);
  const bitsMax = family === 6 ? 128 : 32;
  const prefix = bits === undefined ? bitsMax : Number(bits);
  if (family === 0 || prefix > bitsMax) {
    throw new Refusal("invalid_request", `trusted proxy '${entry}' is no address or network`);
  }
  list.addSubnet(address, prefix, family === 6 ? "ipv6" : "ipv4");
}
