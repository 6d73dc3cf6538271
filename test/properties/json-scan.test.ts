import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  eachField,
  elementsAt,
  endOfValue,
  findRepeatedField,
  isJsonObject,
  JsonNumber,
  parseJson,
  skipSpace,
} from "../../src/domain/values/json.ts";
import { parseBatch, readChanges } from "../../src/http/api/change-list.ts";

/** Rebuilds a value from the positions that the scan finds. */
function rebuild(text: string, at: number): unknown {
  if (text[at] === "[") {
    return elementsAt(text, at, Number.POSITIVE_INFINITY).map((start) => rebuild(text, start));
  }
  if (text[at] === "{") {
    const fields: [string, unknown][] = [];
    eachField(text, at, (name, start) => fields.push([name, rebuild(text, start)]));
    return Object.fromEntries(fields);
  }
  return parseJson(text.slice(at, endOfValue(text, at)));
}

const space = fc.stringMatching(/^[ \t\n\r]{0,3}$/);
const number = fc.oneof(
  fc.bigInt().map(String),
  fc.constantFrom("5.0", "-0", "1e300", "5.0000000000000000001", "50e-1", "9007199254740993"),
);
const text = fc.string().map((one) => JSON.stringify(one));
const escaped = fc.constantFrom('"\\\\"', '"\\""', '"\\\\\\""', '"\\u0022]}"', '"[{,:"');

/** JSON in any notation, with white space between all tokens. */
const json = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(number, text, escaped, fc.constantFrom("true", "false", "null")),
    fc
      .tuple(fc.array(tie("value"), { maxLength: 4 }), space)
      .map(([items, gap]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
    fc
      .tuple(fc.array(fc.tuple(text, tie("value")), { maxLength: 4 }), space)
      .map(([fields, gap]) => {
        const members = fields.map(([name, value]) => `${name}${gap}:${gap}${value}`);
        return `{${gap}${members.join(`${gap},${gap}`)}${gap}}`;
      }),
  ),
})).value;

test("the scan finds the same values as the parser, in any valid JSON", () => {
  const property = fc.property(json, space, (value, gap) => {
    const written = gap + value + gap;
    const start = skipSpace(written, 0);
    expect(rebuild(written, start)).toEqual(parseJson(written));
    expect(endOfValue(written, start)).toBe(start + value.length);
  });
  fc.assert(property, { numRuns: 2_000 });
});

test("a batch has the changes that the parser finds", () => {
  const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const change = fc.record({ id, delta: fc.maxSafeInteger() });
  const property = fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), (changes) => {
    const items = changes.map(
      (one) => `{"petId":${one.id},"delta":${one.delta},"reason":"{\\"petId\\":1"}`,
    );
    const body = `{"changes":[${items.join()}]}`;
    const parsed = parseJson(body);
    expect(isJsonObject(parsed) && (parsed.changes as unknown[]).length).toBe(changes.length);
    expect(readChanges(parseBatch(body)).map(({ petId, amount }) => [petId, amount])).toEqual(
      changes.map((one) => [one.id, one.delta]),
    );
  });
  fc.assert(property, { numRuns: 500 });
});

/** The names of every object, in the order of the text. The scan must not use them as paths. */
function hasRepeatedField(text: string, at: number): boolean {
  if (text[at] === "[")
    return elementsAt(text, at, Infinity).some((one) => hasRepeatedField(text, one));
  if (text[at] !== "{") return false;
  const fields: [string, number][] = [];
  eachField(text, at, (name, start) => fields.push([name, start]));
  const isRepeated = new Set(fields.map(([name]) => name)).size < fields.length;
  return isRepeated || fields.some(([, start]) => hasRepeatedField(text, start));
}

test("a repeated field is found in any valid JSON, and only there", () => {
  const property = fc.property(json, fc.boolean(), text, (value, isRepeated, name) => {
    const written = isRepeated ? `[1,{${name} :${value},"other":1,${name}:${value}}]` : value;
    expect(findRepeatedField(written) !== undefined).toBe(hasRepeatedField(written, 0));
  });
  fc.assert(property, { numRuns: 2_000 });
  expect(findRepeatedField('{"a":{"a":1},"b":["a",{"a":"{\\"a\\":1"}],"\\u0061":2}')).toBe("a");
});

test("numbers keep all digits", () => {
  expect(rebuild("[9007199254740993]", 0)).toEqual([new JsonNumber("9007199254740993")]);
});
