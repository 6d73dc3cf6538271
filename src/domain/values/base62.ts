import { randomBytes } from "node:crypto";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Writes a number with exactly `length` digits. */
export function toBase62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; digits.length < length; rest /= 62n) {
    digits = base62[Number(rest % 62n)] + digits;
  }
  return digits;
}

/** Random bytes, written with exactly `length` digits. */
export function randomBase62(bytes: number, length: number): string {
  return toBase62(BigInt(`0x${randomBytes(bytes).toString("hex")}`), length);
}

/** 72 random bits, for the id of something that operators name. */
export function randomId(prefix: string): string {
  return prefix + randomBase62(9, 13);
}
