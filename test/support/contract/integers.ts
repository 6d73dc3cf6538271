import fc from "fast-check";
import type { DocumentedSchema } from "./document.ts";
import { invalid, mostlyValid, type Part, valid } from "./parts.ts";

/** Integers as a client may write them, within the bounds of the document or not. */

function boundsOf(schema: DocumentedSchema): { min: bigint; max: bigint } {
  // Parsing the document rounded the bounds of int64.
  if (schema.minimum! < -(2 ** 53)) return { min: -(2n ** 63n), max: 2n ** 63n - 1n };
  return { min: BigInt(schema.minimum!), max: BigInt(schema.maximum!) };
}

function integerIn({ min, max }: { min: bigint; max: bigint }): fc.Arbitrary<bigint> {
  const small = { min: min > -20n ? min : -20n, max: max < 20n ? max : 20n };
  return fc.oneof(fc.bigInt({ min, max }), fc.bigInt(small), fc.constantFrom(min, max));
}

function integerOutside({ min, max }: { min: bigint; max: bigint }): fc.Arbitrary<bigint> {
  const beyond = fc.oneof(fc.constant(1n), fc.bigInt({ min: 1n, max: 2n ** 70n }));
  return fc.oneof(
    beyond.map((more) => max + more),
    beyond.map((less) => min - less),
  );
}

/** A number that is not an integer, in the notations of JSON. */
const writtenFraction = fc
  .record({
    whole: fc.bigInt({ min: -99n, max: 2n ** 60n }),
    tenths: fc.integer({ min: 1, max: 9 }),
    zeros: fc.integer({ min: 0, max: 24 }),
    tail: fc.constantFrom("", "e0", "e-1", "E-30"),
  })
  .map(({ whole, tenths, zeros, tail }) => `${whole}.${"0".repeat(zeros)}${tenths}${tail}`);

export const notDigits = fc.oneof(
  fc.constantFrom("1.5", "1e3", "0x10", "+1", "01", "-0", "null", "true", "٣", "1_000", "NaN"),
  fc.string({ minLength: 1, maxLength: 12 }).filter((text) => !/^-?\d+$|^\.{1,2}$/.test(text)),
);

/** An integer in a path or a query: valid decimal digits within the bounds, or not. */
export function integerText(schema: DocumentedSchema): fc.Arbitrary<Part<string>> {
  const bounds = boundsOf(schema);
  return mostlyValid(
    integerIn(bounds).map((value) => valid(String(value))),
    fc.oneof(notDigits, integerOutside(bounds).map(String)).map(invalid(400)),
  );
}

/** An integer in the notations of JSON. */
export function writtenInteger(schema: DocumentedSchema): fc.Arbitrary<string> {
  return fc
    .tuple(integerIn(boundsOf(schema)), fc.constantFrom("", ".0", "e0", "E+0", "0e-1"))
    .map(([value, tail]) => (value === 0n ? `0${tail.replace("0e-1", "e-1")}` : `${value}${tail}`));
}

export function wrongValue(schema: DocumentedSchema): fc.Arbitrary<string> {
  return fc.oneof(
    integerOutside(boundsOf(schema)).map(String),
    writtenFraction,
    fc.constantFrom("1.5", '"5"', "true", "null", "[]", "{}", "1e300", "5.0000000000000000001"),
    fc.string().map((text) => JSON.stringify(text)),
  );
}
