import fc from "fast-check";
import type { DocumentedSchema } from "./document.ts";
import {
  invalid,
  knownPets,
  type Part,
  possibly,
  resolve,
  writtenInteger,
  wrongValue,
} from "./values.ts";

/** A change as a list of fields, so that fields can be repeated and in any order. */
type Pairs = readonly (readonly [name: string, value: string])[];

const reasons = fc.oneof(
  fc.constantFrom("", "Sold", "a".repeat(200), "🐱".repeat(200), '"\\/{}[],:'),
  fc.string({ unit: "grapheme", maxLength: 20 }),
);
const goodReason = reasons
  .filter((text) => !/\p{Cc}/u.test(text))
  .map((text) => JSON.stringify(text));
const badReason = fc.constantFrom(
  ...["null", "5", "[]", "{}", "true", '"\\u0000"', '"a\\nb"', '"\\u007f"', '"\\u0085"'],
  ...[
    '"\\ud83d"',
    '"\\udc31\\ud83d"',
    JSON.stringify("a".repeat(201)),
    JSON.stringify("🐱".repeat(201)),
  ],
);

/** The names of fields in any notation: JSON allows every character as an escape. */
const writtenName = (name: string) =>
  fc.constantFrom(
    JSON.stringify(name),
    `"\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}${name.slice(1)}"`,
  );
const space = fc.constantFrom("", "", "", " ", "\n\t\r ");

function writtenObject(pairs: fc.Arbitrary<Pairs>): fc.Arbitrary<string> {
  return pairs.chain((list) =>
    fc
      .tuple(space, ...list.map(([name, value]) => writtenName(name).map((key) => [key, value])))
      .map(([gap, ...written]) => {
        const fields = written.map(([key, value]) => `${key}${gap}:${gap}${value}`);
        return `{${gap}${fields.join(`${gap},${gap}`)}${gap}}`;
      }),
  );
}

const strayField: fc.Arbitrary<readonly [string, string]> = fc.tuple(
  fc.constantFrom("note", "PetId", "quantity ", "__proto__", "constructor", "Δ"),
  fc.json({ maxDepth: 3 }),
);

/** Bodies of a batch: an object with the field `field`, an array of changes. */
export function batchOf(field: string, list: DocumentedSchema): fc.Arbitrary<Part<string>> {
  const kinds = resolve(list.items!).oneOf!.map((kind) => resolve(kind).properties);
  const properties: Readonly<Record<string, DocumentedSchema>> = Object.assign({}, ...kinds);
  const { petId, quantity, delta, expectedVersion } = properties;
  const pet = fc.oneof(
    { arbitrary: fc.constantFrom(...knownPets).map(String), weight: 9 },
    { arbitrary: writtenInteger(petId!), weight: 1 },
  );
  const amount = fc.oneof(
    writtenInteger(quantity!).map((value) => ["quantity", value] as const),
    fc.integer({ min: -9, max: 9 }).map((value) => ["delta", String(value)] as const),
    writtenInteger(delta!).map((value) => ["delta", value] as const),
  );
  const optional = fc.tuple(
    fc.option(goodReason, { nil: undefined }),
    fc.option(writtenInteger(expectedVersion!), { nil: undefined, freq: 6 }),
  );
  const pairs: fc.Arbitrary<Pairs> = fc
    .tuple(pet, amount, optional)
    .chain(([id, sum, [reason, version]]) => {
      const given: Pairs = [
        ["petId", id],
        sum,
        ...(reason === undefined ? [] : [["reason", reason] as const]),
        ...(version === undefined ? [] : [["expectedVersion", version] as const]),
      ];
      return fc.shuffledSubarray([...given], { minLength: given.length });
    });
  const change = writtenObject(pairs);
  const wrongPairs: fc.Arbitrary<Pairs> = fc.oneof(
    wrongValue(petId!).map(
      (value): Pairs => [
        ["petId", value],
        ["delta", "1"],
      ],
    ),
    wrongValue(quantity!).map(
      (value): Pairs => [
        ["petId", "1"],
        ["quantity", value],
      ],
    ),
    wrongValue(delta!).map(
      (value): Pairs => [
        ["petId", "1"],
        ["delta", value],
      ],
    ),
    wrongValue(expectedVersion!).map(
      (value): Pairs => [
        ["petId", "1"],
        ["delta", "1"],
        ["expectedVersion", value],
      ],
    ),
    strayField.map((stray): Pairs => [["petId", "1"], ["delta", "1"], stray]),
    badReason.map(
      (value): Pairs => [
        ["petId", "1"],
        ["delta", "1"],
        ["reason", value],
      ],
    ),
    fc.constantFrom<Pairs>(
      [],
      [["petId", "1"]],
      [["delta", "1"]],
      [
        ["petId", "1"],
        ["quantity", "1"],
        ["delta", "1"],
      ],
      [
        ["petId", "1"],
        ["quantity", "1"],
        ["delta", "null"],
      ],
      [
        ["petId", "1"],
        ["delta", "1"],
        ["petId", "null"],
      ],
    ),
  );
  const repeated = pairs.map((list) => [...list, list[0]!] as Pairs);
  const wrongChange = fc.oneof(
    { arbitrary: writtenObject(wrongPairs), weight: 6 },
    { arbitrary: writtenObject(repeated), weight: 1 },
    { arbitrary: fc.constantFrom("null", "1", "[]", '""', "true"), weight: 1 },
  );
  const body = (changes: readonly string[]) => `{${JSON.stringify(field)}:[${changes.join()}]}`;
  const some = fc.array(change, { minLength: list.minItems!, maxLength: 5 });
  const good = fc.oneof(
    { arbitrary: some.map(body), weight: 12 },
    {
      arbitrary: change.map((one) => body(Array(list.maxItems).fill(one).map(withoutGaps))),
      weight: 1,
    },
  );
  const bad = fc.oneof(
    {
      arbitrary: fc
        .tuple(some, wrongChange, some)
        .map(([one, wrong, next]) => body([...one, wrong, ...next])),
      weight: 8,
    },
    change.map((one) => `[${one}]`),
    change.map((one) => `{${JSON.stringify(field)}:${one}}`),
    change.map(() => body(Array(list.maxItems! + 1).fill('{"petId":1,"delta":0}'))),
    some.map((changes) => `${body(changes).slice(0, -1)},${JSON.stringify(field)}:[]}`),
    fc.constantFrom(
      ...["", "{}", "[]", "null", `{"${field}":[]}`, `{"${field}":null}`, `{"${field}":[1,]}`],
      ...[
        "[".repeat(100_000),
        `{"${field}":`.repeat(10_000),
        "\u0000",
        `{"${field}":[{"petId":1e999}]}`,
      ],
      `{"${field}":[{"petId":1,"delta":${"9".repeat(100_000)}}]}`,
    ),
  );
  const oversized = some.map((changes) => body(changes) + " ".repeat(262_144));
  return fc.oneof(
    { arbitrary: good.map(possibly(404, 409)), weight: 10 },
    { arbitrary: bad.map(invalid(400)), weight: 8 },
    { arbitrary: oversized.map(invalid(413)), weight: 1 },
  );
}

/** A long batch stays within the limit on bodies. */
function withoutGaps(change: string): string {
  return change.length > 200 ? '{"petId":1,"delta":0}' : change;
}
