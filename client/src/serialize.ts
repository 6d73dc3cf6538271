const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };

/**
 * A replacer for `JSON.stringify` that writes a bigint as a JSON number, digit for digit. On a
 * platform without `JSON.rawJSON`, such as Node 20, one past 2^53 becomes a string of its digits:
 * a number would be rounded.
 */
export function jsonReplacer(_key: string, value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  return rawJSON === undefined ? String(value) : rawJSON(String(value));
}

const toJson = {
  value(this: object): object {
    const fields = Object.entries(this).map(([name, value]) => [name, jsonReplacer(name, value)]);
    return Object.fromEntries(fields);
  },
};

/**
 * Lets `JSON.stringify` take an object with ids, by a `toJSON` that no loop over its fields and no
 * deep comparison sees. A prototype would be as easy, but `assert.deepStrictEqual` compares those.
 */
export function withToJson<T extends object>(object: T): T {
  return Object.defineProperty(object, "toJSON", toJson);
}
