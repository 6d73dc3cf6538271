import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../support/properties/runs.ts";
import { expectError } from "../support/responses.ts";
import { startTestService, type TestService } from "../support/service.ts";

/**
 * Bodies are generated together with their meaning, so that this test parses no JSON. A literal is
 * a text and, if it is a number, its exact value as a fraction of two bigints.
 */
interface Literal {
  readonly text: string;
  readonly value?: readonly [numerator: bigint, denominator: bigint];
}

const space = fc
  .array(fc.constantFrom(" ", "\t", "\n", "\r"), { maxLength: 2 })
  .map((spaces) => spaces.join(""));

const digits = fc.stringMatching(/^[0-9]{1,25}$/);
const whole = fc.oneof(
  fc.constantFrom("0", "5", "9007199254740991", "9007199254740992", "9007199254740993"),
  fc.stringMatching(/^[1-9][0-9]{0,24}$/),
);
const fraction = fc.oneof(fc.constantFrom("", "0", "00000000000000000000", "5"), digits);
const exponent = fc.oneof(fc.constant(0), fc.integer({ min: -40, max: 40 }));

const number: fc.Arbitrary<Literal> = fc
  .tuple(fc.constantFrom("", "", "-"), whole, fraction, exponent, fc.constantFrom("e", "E", "e+"))
  .map(([sign, integer, places, power, mark]) => {
    const tail = power === 0 ? "" : `${power < 0 ? mark[0] : mark}${power}`;
    const text = `${sign}${integer}${places === "" ? "" : `.${places}`}${tail}`;
    const scale = power - places.length;
    const unsigned = BigInt(integer + places);
    const mantissa = sign === "-" ? -unsigned : unsigned;
    const value =
      scale >= 0 ? [mantissa * 10n ** BigInt(scale), 1n] : [mantissa, 10n ** BigInt(-scale)];
    return { text, value: [value[0]!, value[1]!] };
  });

const other: fc.Arbitrary<Literal> = fc
  .oneof(
    fc.constantFrom("true", "false", "null", "[]", "{}", '"5"', '""', "[5]", '{"quantity":5}'),
    fc.json({ maxDepth: 3 }).filter((text) => !/^\s*-?[0-9]/.test(text)),
  )
  .map((text) => ({ text }));

interface Name {
  readonly text: string;
  readonly isQuantity: boolean;
}

/** The name `quantity`, with any of its characters escaped, or some other name. */
const name: fc.Arbitrary<Name> = fc.boolean().chain(
  (isQuantity): fc.Arbitrary<Name> =>
    isQuantity
      ? fc
          .array(fc.boolean(), { minLength: 8, maxLength: 8 })
          .map((escaped) => ({ isQuantity, text: `"${spell("quantity", escaped)}"` }))
      : fc
          .oneof(fc.string(), fc.constantFrom("Quantity", "quantity ", "__proto__", "toString", ""))
          .filter((text) => text !== "quantity")
          .map((text) => ({ isQuantity, text: JSON.stringify(text) })),
);

function spell(word: string, escaped: readonly boolean[]): string {
  return [...word]
    .map((letter, at) =>
      escaped[at] && at % 3 === 0 ? `\\u00${letter.charCodeAt(0).toString(16)}` : letter,
    )
    .join("");
}

const member = fc.tuple(space, name, space, space, fc.oneof(number, other), space);
const bodies = fc.tuple(space, fc.array(member, { maxLength: 4 }), space).map((parts) => {
  const [before, members, after] = parts;
  const texts = members.map(([a, key, b, c, { text }, d]) => `${a}${key.text}${b}:${c}${text}${d}`);
  const last = members.filter(([, key]) => key.isQuantity).at(-1);
  return { text: `${before}{${texts.join(",")}}${after}`, quantity: quantityOf(last?.[4]) };
});

/** The quantity according to the rule: an integer from 0 to 2^53-1, or undefined. */
function quantityOf(literal: Literal | undefined): bigint | undefined {
  if (!literal?.value) return undefined;
  const [numerator, denominator] = literal.value;
  if (numerator % denominator !== 0n) return undefined;
  const integer = numerator / denominator;
  return integer >= 0n && integer <= 2n ** 53n - 1n ? integer : undefined;
}

// The same code reads bodies on every engine.
describe("bodies", () => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await startTestService("sqlite");
    const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
    key = (await service.issueKey({ plan: "enterprise", limits })).text;
    await service.addPets({ petId: 1n });
  });
  afterAll(() => service.stop());
  const patch = (body: BodyInit) => service.call("PATCH", "/inventory/1", { key, body });

  test("an object is accepted exactly when its last quantity is an integer in range", async () => {
    await fc.assert(
      fc.asyncProperty(bodies, async ({ text, quantity }) => {
        const answer = await patch(text);
        if (quantity === undefined) expectError(answer, "invalid_request");
        else {
          expect(answer.text).toBe(`{"petId":1,"quantity":${quantity},"status":"available"}`);
        }
      }),
      runs(300),
    );
  });

  test("exponents of any length are checked without computing the number", async () => {
    const long = fc.stringMatching(/^[1-9][0-9]{3,30}$/);
    await fc.assert(
      fc.asyncProperty(long, fc.constantFrom("+", "-", ""), whole, async (power, sign, integer) => {
        const answer = await patch(`{"quantity":${integer}e${sign}${power}}`);
        if (integer === "0") expect(answer.json).toMatchObject({ quantity: 0 });
        else expectError(answer, "invalid_request");
      }),
      runs(80),
    );
  });

  test("JSON that is not an object, and text that is not JSON, is 400", async () => {
    const scalar = fc.oneof(
      number,
      other.filter(({ text }) => !text.trim().startsWith("{")),
    );
    const wrapped = scalar.map(({ text }) => text);
    const broken = bodies.chain(({ text }) =>
      fc.nat(text.trim().length - 1).map((at) => text.trim().slice(0, at)),
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(wrapped, broken), async (text) => {
        expectError(await patch(text), "invalid_request");
      }),
      runs(120),
    );
  });

  test("bytes of any kind never give a 5xx, and what is accepted is JSON", async () => {
    const noise = fc.uint8Array({ maxLength: 200 });
    const corrupted = fc
      .tuple(bodies, fc.nat(), fc.integer({ min: 0, max: 255 }))
      .map(([{ text }, at, byte]) => {
        const bytes = new TextEncoder().encode(text);
        bytes[at % bytes.length] = byte;
        return bytes;
      });
    await fc.assert(
      fc.asyncProperty(fc.oneof(noise, corrupted), async (bytes) => {
        const answer = await patch(bytes as Uint8Array<ArrayBuffer>);
        if (answer.status !== 200) return expectError(answer, "invalid_request");
        const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
        const parsed = JSON.parse(text) as { quantity: number };
        expect((answer.json as { quantity: number }).quantity).toBe(parsed.quantity + 0);
      }),
      runs(300),
    );
    expect(service.logged.filter((line) => line.includes("bug"))).toEqual([]);
  });
});
