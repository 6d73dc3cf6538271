import fc from "fast-check";
import { apiDocument, type DocumentedSchema } from "./document.ts";

/** Values for the parts of a request: valid according to the document, or invalid on purpose. */

/** The pets in the service under test. */
export const knownPets = [1n, 7n, 9007199254740993n, -9223372036854775808n, 9223372036854775807n];

/** A part of a request, with the statuses of its faults. */
export interface Part<T> {
  readonly value: T;
  readonly faults: readonly number[];
  /** Statuses that the part may cause, depending on what is stored. */
  readonly possible?: readonly number[];
}

export const valid = <T>(value: T): Part<T> => ({ value, faults: [] });
export const invalid =
  (status: number) =>
  <T>(value: T): Part<T> => ({ value, faults: [status] });

export const possibly =
  (...possible: readonly number[]) =>
  <T>(value: T): Part<T> => ({ value, faults: [], possible });

/** Two thirds valid, so that one fault does not hide another. */
export function mostlyValid<T>(good: fc.Arbitrary<Part<T>>, bad: fc.Arbitrary<Part<T>>) {
  return fc.oneof({ arbitrary: good, weight: 2 }, { arbitrary: bad, weight: 1 });
}

export function boundsOf(schema: DocumentedSchema): { min: bigint; max: bigint } {
  // Parsing the document rounded the bounds of int64.
  if (schema.minimum! < -(2 ** 53)) return { min: -(2n ** 63n), max: 2n ** 63n - 1n };
  return { min: BigInt(schema.minimum!), max: BigInt(schema.maximum!) };
}

export function integerIn({ min, max }: { min: bigint; max: bigint }): fc.Arbitrary<bigint> {
  const small = { min: min > -20n ? min : -20n, max: max < 20n ? max : 20n };
  return fc.oneof(fc.bigInt({ min, max }), fc.bigInt(small), fc.constantFrom(min, max));
}

export function integerOutside({ min, max }: { min: bigint; max: bigint }): fc.Arbitrary<bigint> {
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

export const extras = fc.dictionary(
  fc.string({ maxLength: 8 }).filter((name) => name !== "quantity" && name !== "__proto__"),
  fc.jsonValue({ maxDepth: 2 }),
  { maxKeys: 2 },
);

export function resolve(schema: DocumentedSchema): DocumentedSchema {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : apiDocument.components.schemas[name]!;
}

export const notAnObject = fc.jsonValue().filter((value) => !isObject(value));

export function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
