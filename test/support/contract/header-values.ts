import fc from "fast-check";
import { invalid, mostlyValid, type Part, possibly, valid } from "./values.ts";

type HeaderPart = Part<string | undefined>;

const absent = fc.constant(valid<string | undefined>(undefined));
const printable = fc.stringMatching(/^[!-~]{1,20}$/).filter((text) => text !== "*");

/** Tags that no entry and no list has, and texts that are no tags. */
const foreignTags = fc.oneof(
  printable,
  fc.constantFrom(
    '"0-1"',
    'W/"0-1"',
    '"0-1", "0-2", W/"0-3"',
    '"',
    ",",
    '"*"',
    "*, *",
    '"0-9007199254740993"',
    '"0-99999999999999999999"',
    `"${"0".repeat(4_000)}-1"`,
    Array(1_500).fill('""').join(),
  ),
);

const ifMatch = fc.oneof(
  { arbitrary: absent, weight: 5 },
  { arbitrary: fc.constantFrom("*", " * ").map(valid<string | undefined>), weight: 2 },
  { arbitrary: foreignTags.map(invalid(412)), weight: 2 },
);

/** The same on an entry, where a text that is no list of tags is an error by itself. */
const ifMatchEntry = ifMatch.map((part) =>
  part.value !== undefined && part.faults.length > 0 && !tagList.test(part.value)
    ? invalid(400)<string | undefined>(part.value)
    : part,
);

const tagList = /^[\s,]*((W\/)?"[^"]*"[\s,]*)+$/;

const ifNoneMatch = fc.oneof(
  { arbitrary: absent, weight: 3 },
  { arbitrary: foreignTags.map(valid<string | undefined>), weight: 3 },
  { arbitrary: fc.constant("*").map(possibly(304)), weight: 1 },
);

/** Few keys, so that many requests have the key of an earlier one. */
const usedKeys = ["a", "1", "b".repeat(255), "x y", 'quote"d', "back\\slash"];
const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, "\\$&")}"`;

const idempotencyKey: fc.Arbitrary<HeaderPart> = fc.oneof(
  { arbitrary: absent, weight: 2 },
  {
    arbitrary: mostlyValid<string | undefined>(
      fc
        .oneof(
          fc.constantFrom(...usedKeys, ...usedKeys).map(quoted),
          // A key without quotes is the same as with quotes.
          fc.constantFrom("a", "1", "b".repeat(255)),
          fc.stringMatching(/^[!#-[\]-~ ]{1,255}$/).map(quoted),
          fc.uuid(),
        )
        .map(possibly(422)),
      fc
        .constantFrom(
          ...["", '""', '"', 'a"', '"a', '"a"b"', '"a", "b"', "a, b", "a b", "a;b=1", '"a";b=1'],
          ...['"\\a"', '"\\"', "\\", "é", '"é"', "a\tb", '"a\tb"', "(", "?1", ":YQ==:,", "@", "{}"],
          ...["b".repeat(256), quoted("b".repeat(256)), quoted('"'.repeat(256))],
        )
        .map(invalid(400)),
    ),
    weight: 3,
  },
);

const changeReason: fc.Arbitrary<HeaderPart> = fc.oneof(
  { arbitrary: absent, weight: 2 },
  {
    arbitrary: mostlyValid<string | undefined>(
      fc
        .oneof(
          fc.constantFrom(
            "",
            "Sold at till 4",
            "a".repeat(200),
            "100%25",
            "%F0%9F%90%B1".repeat(200),
          ),
          fc.stringMatching(/^[!-$&-~]{1,200}$/),
          fc
            .string({ unit: "binary", minLength: 1, maxLength: 200 })
            .filter((text) => !/\p{Cc}/u.test(text))
            .map(encodeURIComponent),
        )
        .map(valid),
      fc
        .constantFrom(
          ...["%", "%2", "%zz", "%C3", "%C3%28", "%ED%A0%80", "%F4%90%80%80", "%00", "%0A", "%7F"],
          ...["a%C2%85", "é", "a\tb", "100%", "a".repeat(201), "%F0%9F%90%B1".repeat(201)],
          "%61".repeat(2_000),
        )
        .map(invalid(400)),
    ),
    weight: 2,
  },
);

/** Pages ignore it. `feed-requests.ts` has the values for the feed. */
const lastEventId = fc.oneof(absent, printable.map(valid<string | undefined>));

const values: Readonly<Record<string, fc.Arbitrary<HeaderPart>>> = {
  "If-Match": ifMatch,
  "If-None-Match": ifNoneMatch,
  "Idempotency-Key": idempotencyKey,
  "X-Change-Reason": changeReason,
  "Last-Event-ID": lastEventId,
};

/** A documented request header: absent, valid, or hostile. */
export function headerValue(
  name: string,
  path: string,
): fc.Arbitrary<Part<Record<string, string>>> {
  const isOnEntry = name === "If-Match" && path.includes("{petId}");
  const value = isOnEntry ? ifMatchEntry : values[name];
  if (!value) throw new Error(`the fuzzer has no values for the header ${name}`);
  return value.map(({ value: text, ...rest }) => ({
    ...rest,
    value: text === undefined ? {} : { [name]: text },
  }));
}
