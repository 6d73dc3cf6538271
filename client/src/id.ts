/** A 64-bit identifier. A number is taken too, as long as it is a safe integer. */
export type Id = bigint | number;

const idMin = -(2n ** 63n);
const idMax = 2n ** 63n - 1n;

/** The digits of an id. A number past 2^53 has already lost some: it would name another pet. */
export function formatId(name: string, id: Id): string {
  if (typeof id === "bigint" ? id >= idMin && id <= idMax : Number.isSafeInteger(id)) {
    return String(BigInt(id));
  }
  const shown = typeof id === "string" ? `the string "${id}"` : String(id);
  throw new RangeError(
    `${name} must be a bigint of 64 bits or a safe integer, not ${shown}. Pass a bigint such as 7n`,
  );
}
