import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeInventory } from "../../client/src/decode.ts";
import { parseWithLongIds } from "../../client/src/json.ts";

const highest = "9223372036854775807";

describe("parsing a response", () => {
  test("keeps every 64-bit id, digit for digit", () => {
    const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const space = fc.constantFrom("", " ", "\n\t");
    fc.assert(
      fc.property(id, space, (petId, gap) => {
        const text = `[{"petId"${gap}:${gap}${petId}${gap},"quantity":1,"status":"sold"}]`;
        expect(decodeInventory(parseWithLongIds(text))[0]?.petId).toBe(petId);
      }),
    );
  });

  test("is exact for the smallest and the largest id of every length", () => {
    for (let digits = 1; digits <= 18; digits++) {
      for (const petId of [10n ** BigInt(digits) - 1n, 10n ** BigInt(digits)]) {
        const text = `[{"petId":${petId},"quantity":1,"status":"sold"}]`;
        expect(decodeInventory(parseWithLongIds(text))[0]?.petId).toBe(petId);
      }
    }
  });

  test("never changes the content of a string", () => {
    const fragment = fc.constantFrom(
      '"',
      "\\",
      "petId",
      "id",
      ":",
      ",",
      "{",
      " ",
      highest,
      "-",
      "é",
    );
    const string = fc.array(fragment, { maxLength: 12 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.dictionary(string, fc.oneof(string, fc.array(string))), (value) => {
        expect(parseWithLongIds(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 500 },
    );
  });

  test("accepts and rejects everything else like JSON.parse", () => {
    const inserts = [...'{}[]",:\\0-.e+tn \u0001', '"id":', `"id":${highest}`, highest];
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom(...inserts), (json, at, inserted) => {
        const position = at % (json.length + 1);
        const text = json.slice(0, position) + inserted + json.slice(position + (at % 2));
        expect(roundedOutcome(parseWithLongIds, text)).toBe(roundedOutcome(JSON.parse, text));
      }),
      { numRuns: 500 },
    );
  });

  test("does not change numbers with a fraction or an exponent", () => {
    const text = '{"id":1234567890123456.5,"petId":1234567890123456E1}';
    expect(parseWithLongIds(text)).toEqual(JSON.parse(text));
  });

  test("takes time linear in the length of the list", () => {
    const entries = Array.from(
      { length: 100_000 },
      (_, at) => `{"petId":${BigInt(highest) - BigInt(at)},"quantity":${at},"status":"sold"}`,
    );
    const startMs = performance.now();
    expect(decodeInventory(parseWithLongIds(`[${entries.join(",")}]`))).toHaveLength(100_000);
    // This takes about 50 ms. A parser that copies the rest of the text at each step takes minutes.
    expect(performance.now() - startMs).toBeLessThan(30_000);
  });
});

/** Parses a text and returns it as JSON again, with rounded ids, or "rejected". */
function roundedOutcome(read: (text: string) => unknown, text: string): string {
  try {
    return JSON.stringify(read(text)).replaceAll(`"${highest}"`, String(Number(highest)));
  } catch (error) {
    if (error instanceof SyntaxError) return "rejected";
    throw error;
  }
}
