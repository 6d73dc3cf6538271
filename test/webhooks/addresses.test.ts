import { describe, expect, test } from "bun:test";
import { BlockList, isIP } from "node:net";
import fc from "fast-check";
import { isInside, parseAddress, parseNetwork } from "../../src/domain/values/networks.ts";
import { isAllowed } from "../../src/webhooks/addresses.ts";
import { runs } from "../support/properties/runs.ts";

/** The first and the last address of every network that is refused, and some in between. */
const refused = {
  "this host": ["0.0.0.0", "0.255.255.255", "::"],
  loopback: ["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"],
  private: [
    ...["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0"],
    ...["192.168.255.255", "fc00::", "fd00::1", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ],
  "carrier-grade NAT": ["100.64.0.0", "100.127.255.255"],
  "link-local": ["169.254.0.0", "169.254.255.255", "fe80::", "fe80::1", "febf:ffff::", "fec0::1"],
  "with a zone": ["fe80::1%eth0", "2606:4700::1111%1"],
  multicast: ["224.0.0.0", "239.255.255.255", "ff00::", "ff02::1", "ffff:ffff::"],
  reserved: ["240.0.0.0", "255.255.255.255", "1fff:ffff::", "4000::", "5f00::", "100::1"],
  assignments: ["192.0.0.0", "192.0.0.255", "192.88.99.0", "192.88.99.255", "2001:1ff:ffff::"],
  benchmarks: ["198.18.0.0", "198.19.255.255"],
  documentation: [
    ...["192.0.2.0", "192.0.2.255", "198.51.100.0", "198.51.100.255", "203.0.113.0"],
    ...["203.0.113.255", "2001:db8::", "2001:db8:ffff::", "3fff::", "3fff:fff:ffff::"],
  ],
  metadata: [
    ...["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192"],
    ...["fd00:ec2::254", "fd20:ce::254"],
  ],
  "IPv4 in IPv6": [
    ...["::ffff:8.8.8.8", "::ffff:808:808", "0:0:0:0:0:FFFF:127.0.0.1", "::127.0.0.1", "::7f00:1"],
    ...["64:ff9b::8.8.8.8", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "::ffff:0:127.0.0.1"],
    ...["2002:7f00:1::1", "2002::", "2001::1", "2001:0:7f00:1::", "2001:10::", "2001:20::1"],
  ],
  "not an address": [
    ...["", "localhost", "127.1", "0177.0.0.1", "08.8.8.8", "0x8.8.8.8", "134744072", "8.8.8"],
    ...["8.8.8.8.", "8.8.8.8 ", " 8.8.8.8", "８.8.8.8", "8.8.8.256", "8.8.8.8/32", "[2606::1]"],
    ...["2606:::1", "2606:4700::1111::", "2606:4700", "12606::1", "2606::8.8.8.08"],
  ],
};

const allowed = [
  ...["1.0.0.0", "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255"],
  ...["100.128.0.0", "126.255.255.255", "128.0.0.0", "168.63.129.15", "168.63.129.17"],
  ...["169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255"],
  ...["192.0.1.0", "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255"],
  ...["192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0"],
  ...["203.0.112.255", "203.0.114.0", "223.255.255.255", "2000::", "2001:200::"],
  ...["2001:db7:ffff::", "2001:db9::", "2003::", "2606:4700::1111", "2606:4700:0:0::1111"],
  ...["3ffe:ffff::", "3fff:1000::", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
];

describe("without allowed networks, a request goes", () => {
  for (const [kind, addresses] of Object.entries(refused)) {
    test(`to no address of the kind: ${kind}`, () => {
      expect(addresses.filter((address) => isAllowed(address, []))).toEqual([]);
    });
  }

  test("to public addresses, up to the edges of the networks that are refused", () => {
    expect(allowed.filter((address) => !isAllowed(address, []))).toEqual([]);
  });
});

describe("an allowed network", () => {
  const isAllowedBy = (network: string, address: string) =>
    isAllowed(address, [parseNetwork("198.51.100.7")!, parseNetwork(network)!]);

  test("allows exactly its addresses", () => {
    expect(isAllowedBy("10.1.0.0/16", "10.1.255.255")).toBe(true);
    expect(isAllowedBy("10.1.0.0/16", "10.2.0.0")).toBe(false);
    expect(isAllowedBy("10.1.2.3/16", "10.1.0.0")).toBe(true);
    expect(isAllowedBy("127.0.0.1", "127.0.0.1")).toBe(true);
    expect(isAllowedBy("127.0.0.1", "127.0.0.2")).toBe(false);
    expect(isAllowedBy("0.0.0.0/0", "127.0.0.2")).toBe(true);
    expect(isAllowedBy("fd00::/8", "fd12::1")).toBe(true);
    expect(isAllowedBy("fd00::/8", "fc12::1")).toBe(false);
    expect(isAllowedBy("::1", "0:0::0:1")).toBe(true);
    expect(isAllowedBy("::1", "198.51.100.7")).toBe(true);
  });

  test("of IPv4 does not allow the same addresses inside IPv6", () => {
    expect(isAllowedBy("0.0.0.0/0", "::ffff:127.0.0.1")).toBe(false);
    expect(isAllowedBy("127.0.0.0/8", "64:ff9b::127.0.0.1")).toBe(false);
    expect(isAllowedBy("::/0", "127.0.0.1")).toBe(false);
  });
});

describe("for random texts", () => {
  const almostAddress = fc
    .array(fc.constantFrom(..."0123456789abcdefF:.x%".split(""), "::", "255", "ffff"), {
      maxLength: 18,
    })
    .map((parts) => parts.join(""));
  const anyText = fc.oneof(fc.ipV4(), fc.ipV4Extended(), fc.ipV6(), almostAddress);

  test("an address is what node:net accepts, apart from zones", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const family = text.includes("%") ? undefined : isIP(text) || undefined;
        expect(parseAddress(text)?.family).toBe(family as 4 | 6 | undefined);
      }),
      runs(2_000),
    );
  });

  test("an address is in the same networks of its family as for node:net", () => {
    const pair = fc.oneof(
      fc.tuple(fc.constant("ipv4" as const), fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 })),
      fc.tuple(
        fc.constant("ipv6" as const),
        fc.ipV6(),
        fc.ipV6(),
        fc.integer({ min: 0, max: 128 }),
      ),
    );
    fc.assert(
      fc.property(pair, fc.boolean(), ([family, base, other, prefix], isSame) => {
        const list = new BlockList();
        list.addSubnet(base, prefix, family);
        const address = isSame ? base : other;
        const network = parseNetwork(`${base}/${prefix}`)!;
        expect(isInside(parseAddress(address)!, network)).toBe(list.check(address, family));
      }),
      runs(2_000),
    );
  });

  test("an address has the same number in its full and in its shortest spelling", () => {
    const group = fc.oneof(fc.constant(0), fc.nat(0xffff));
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const hex = groups.map((one) => one.toString(16).padStart(4, "0"));
        const full = hex.join(":");
        const shortest = new URL(`http://[${full}]/`).hostname.slice(1, -1);
        const bits = BigInt(`0x${hex.join("")}`);
        expect(parseAddress(full)).toEqual({ family: 6, bits });
        expect(parseAddress(shortest)).toEqual({ family: 6, bits });
      }),
      runs(1_000),
    );
  });
});
