/**
 * Array literals of PostgreSQL. One parameter holds a whole column, and joining numbers is the
 * cheapest method to encode one.
 */
export function integerArray(values: readonly (bigint | number | null)[]): string {
  return `{${values.map((value) => value ?? "NULL").join()}}`;
}

const special = /["\\]/;

export function textArray(values: readonly (string | null)[]): string {
  let text = "";
  for (const value of values) {
    if (text !== "") text += ",";
    if (value === null) text += "NULL";
    else text += special.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : `"${value}"`;
  }
  return `{${text}}`;
}

/** An array of byte strings, given in hexadecimal digits. */
export function bytesArray(values: readonly (string | null)[]): string {
  return `{${values.map((hex) => (hex === null ? "NULL" : `"\\\\x${hex}"`)).join()}}`;
}

/** A byte string as a parameter. */
export function bytesText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`;
}
