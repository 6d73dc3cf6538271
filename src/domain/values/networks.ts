import { isIP } from "node:net";

/** An IP address as a number. */
export interface Address {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

/** All addresses that share the first `prefix` bits of this one. */
export interface Network extends Address {
  /** The address as it was given. */
  readonly address: string;
  readonly prefix: number;
}

/**
 * Parses an IPv4 address of four decimal numbers, or an IPv6 address. Returns undefined for anything
 * else: octal, hexadecimal and short spellings, brackets, and zones such as `fe80::1%eth0`, which
 * isIP accepts.
 */
export function parseAddress(text: string): Address | undefined {
  const family = text.includes("%") ? 0 : isIP(text);
  if (family === 4) return { family, bits: joinParts(parseQuad(text), 8) };
  if (family === 6) return { family, bits: joinParts(parseGroups(text), 16) };
  return undefined;
}

/** Parses an address, which is a network of one, or `ADDRESS/BITS`. Undefined for anything else. */
export function parseNetwork(text: string): Network | undefined {
  const [, address = "", digits] = /^([^/]*)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
  const parsed = parseAddress(address);
  if (!parsed) return undefined;
  const prefix = digits === undefined ? bitsOf(parsed) : Number(digits);
  return prefix <= bitsOf(parsed) ? { ...parsed, address, prefix } : undefined;
}

/**
 * An IPv4 address is in no IPv6 network, and the other way round. BlockList of node:net also finds
 * `::ffff:10.0.0.1` in 10.0.0.0/8.
 */
export function isInside(address: Address, network: Network): boolean {
  if (address.family !== network.family) return false;
  const rest = BigInt(bitsOf(network) - network.prefix);
  return address.bits >> rest === network.bits >> rest;
}

/** Whether only programs on this machine reach a listener on this host. */
export function isLoopback(host: string): boolean {
  return /^(?:127(?:\.[0-9]+){3}|::1|localhost)$/i.test(host);
}

function bitsOf({ family }: Address): number {
  return family === 4 ? 32 : 128;
}

function joinParts(parts: readonly number[], size: number): bigint {
  return parts.reduce((bits, part) => (bits << BigInt(size)) | BigInt(part), 0n);
}

function parseQuad(text: string): number[] {
  return text.split(".").map(Number);
}

/** The eight groups of an IPv6 address that isIP accepts. The last two may be an IPv4 address. */
function parseGroups(text: string): number[] {
  const [left = [], right] = text.split("::").map((half) =>
    half
      .split(":")
      .filter(Boolean)
      .flatMap((group) => {
        if (!group.includes(".")) return [Number.parseInt(group, 16)];
        const [a, b, c, d] = parseQuad(group) as [number, number, number, number];
        return [a * 256 + b, c * 256 + d];
      }),
  );
  if (!right) return left;
  return [...left, ...Array(8 - left.length - right.length).fill(0), ...right];
}
