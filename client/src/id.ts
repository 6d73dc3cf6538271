/** A signed 64-bit id. A number must be a safe integer. */
export type Id = bigint | number;

const idMin = -(2n ** 63n);
const idMax = 2n ** 63n - 1n;

/** Formats an id for a URL. Rejects unsafe numbers: rounding may have changed them to another id. */
export function formatId(name: string, id: Id): string {
  if (typeof id === "bigint" ? id >= idMin && id <= idMax : Number.isSafeInteger(id)) {
    return String(BigInt(id));
  }
  const shown = typeof id === "string" ? `the string "${id}"` : String(id);
  throw new RangeError(
    `${name} must be a 64-bit bigint or a safe integer, not ${shown}. Pass a bigint such as 7n`,
  );
}
