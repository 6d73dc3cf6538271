import {
  type Address,
  isInside,
  type Network,
  parseAddress,
  parseNetwork,
} from "../domain/values/networks.ts";

/** IPv4 networks that are not public: the registry of RFC 6890, and what clouds add to it. */
const reservedIpv4 = [
  "0.0.0.0/8", // this host: a connection reaches loopback
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT, and metadata of Alibaba Cloud
  "127.0.0.0/8", // loopback
  "168.63.129.16/32", // metadata of Azure, which looks public
  "169.254.0.0/16", // link-local, and metadata of most clouds
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments, and metadata of Oracle Cloud
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
].map(networkOf);

/**
 * The one IPv6 network with public addresses. Loopback, private, link-local and multicast addresses
 * are outside, and so are IPv4 addresses in IPv6: `::a.b.c.d`, `::ffff:a.b.c.d`, `64:ff9b::a.b.c.d`.
 */
const globalIpv6 = networkOf("2000::/3");

const reservedIpv6 = [
  "2001::/23", // protocol assignments, among them Teredo, which carries IPv4 addresses
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4, which carries IPv4 addresses
  "3fff::/20", // documentation
].map(networkOf);

/** Whether a request may be sent to this address. Text that is not an address is refused. */
export function isAllowed(text: string, allowedNetworks: readonly Network[]): boolean {
  const address = parseAddress(text);
  if (!address) return false;
  return isPublic(address) || allowedNetworks.some((network) => isInside(address, network));
}

function isPublic(address: Address): boolean {
  if (address.family === 4) return !reservedIpv4.some((network) => isInside(address, network));
  const isReserved = reservedIpv6.some((network) => isInside(address, network));
  return isInside(address, globalIpv6) && !isReserved;
}

/** Whether both texts are spellings of one address. */
export function isSameAddress(one: string, other: string): boolean {
  const [first, second] = [parseAddress(one), parseAddress(other)];
  return first !== undefined && first.family === second?.family && first.bits === second.bits;
}

function networkOf(text: string): Network {
  return parseNetwork(text)!;
}
