import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { createProblems } from "../../src/domain/catalogue/import-problems.ts";
import { petRows } from "../../src/domain/catalogue/imports.ts";
import type { Format } from "../../src/files/formats.ts";
import { readRecords } from "../../src/files/rows.ts";
import { runs } from "../support/properties/runs.ts";
import { expectError } from "../support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

const min = -(2n ** 63n);
const max = 2n ** 63n - 1n;
/** Anywhere in the range, and often near the limits of doubles and machine words. */
const int64 = fc.oneof(
  fc.bigInt({ min, max }),
  fc
    .tuple(
      fc.constantFrom(min, -(2n ** 53n), 0n, 2n ** 31n, 2n ** 53n, max),
      fc.integer({ min: -3, max: 3 }),
    )
    .map(([edge, step]) => edge + BigInt(step))
    .filter((id) => id >= min && id <= max),
);

describe.each([surfaceEngine])("ids on %s", (engine) => {
  let service: TestService;
  let key: string;
  const known = new Set<bigint>();
  beforeAll(async () => {
    service = await startTestService(engine);
    const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
    key = (await service.issueKey({ plan: "enterprise", limits })).text;
  });
  afterAll(() => service.stop());
  // Only the store differs between engines, so that one engine has all runs.
  const share = engine === "sqlite" ? 1 : 0.4;

  const files: Record<Format, (ids: readonly bigint[]) => string> = {
    csv: (ids) => `petId,name\n${ids.map((id) => `${id},x`).join("\n")}\n`,
    ndjson: (ids) => ids.map((id) => `{"petId":${id},"name":"x"}`).join("\n"),
    json: (ids) => `[${ids.map((id) => `{"name":"x","petId":${id}}`).join(",\n")}]`,
  };

  /** Imports as the command line does, from the text of a file to the store. */
  async function importFile(format: Format, ids: readonly bigint[]): Promise<void> {
    const bytes = Buffer.from(files[format](ids));
    async function* pieces() {
      // Split at arbitrary places, so that ids are spread over several pieces.
      for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
    }
    const problems = createProblems();
    const records = readRecords(pieces(), format, petRows, problems);
    await service.store.catalogue.importPets(records, commandImport("test"), problems);
    for (const id of ids) known.add(id);
  }

  test("every id keeps every digit in import, list, path, pet and ledger", async () => {
    const ids = fc.uniqueArray(int64, { minLength: 1, maxLength: 5 });
    const format = fc.constantFrom<Format[]>("csv", "ndjson", "json");
    await fc.assert(
      fc.asyncProperty(ids, format, fc.nat(1_000), async (some, from, quantity) => {
        await importFile(from, some);
        for (const id of some) {
          const body = JSON.stringify({ quantity });
          const updated = await service.call("PATCH", `/inventory/${id}`, { key, body });
          const item = `{"petId":${id},"quantity":${quantity},"status":"available"}`;
          expect(updated.text).toBe(item);
          const pet = await service.call("GET", `/pets/${id}`, { key });
          expect(pet.text).toStartWith(`{"id":${id},`);
          const { seq } = await service.store.inventory.readHead();
          expect((await service.store.inventory.ledgerAfter(seq - 1, 1))[0]?.petId).toBe(id);
        }
        const { text } = await service.call("GET", "/inventory", { key });
        const listed = [...text.matchAll(/"petId":(-?\d+)/g)].map((match) => BigInt(match[1]!));
        const expected = [...known].sort((one, other) => (one < other ? -1 : 1));
        expect(listed).toEqual(expected);
      }),
      {
        ...runs(40 * share),
        examples: [[[min, max, 2n ** 53n + 1n, -(2n ** 53n) - 1n], "csv", 1]],
      },
    );
  });

  test("orders have ids of the whole range, and pages of orders follow them", async () => {
    const ids = fc.uniqueArray(int64, { minLength: 2, maxLength: 20 });
    const all = new Set<bigint>();
    await fc.assert(
      fc.asyncProperty(ids, fc.integer({ min: 1, max: 7 }), async (some, limit) => {
        const plain = { quantity: 1, shipDate: null, complete: false, status: "placed" } as const;
        await service.addOrders(...some.map((id) => ({ line: 1, id, petId: ~id, ...plain })));
        for (const id of some) all.add(id);
        const seen: bigint[] = [];
        let query = `?limit=${limit}`;
        for (;;) {
          const answer = await service.call("GET", `/store/orders${query}`, { key });
          for (const [, id, petId] of answer.text.matchAll(/"id":(-?\d+),"petId":(-?\d+)/g)) {
            expect(BigInt(petId!)).toBe(~BigInt(id!));
            seen.push(BigInt(id!));
          }
          const next = /\?[^>]+/.exec(answer.headers.get("Link") ?? "");
          if (!next) break;
          query = next[0];
        }
        expect(seen).toEqual([...all].sort((one, other) => (one > other ? -1 : 1)));
      }),
      runs(15 * share),
    );
  });

  test("an id outside the range, or in another form, is 400 in a path", async () => {
    const outside = fc
      .oneof(fc.bigInt({ min: max + 1n }), fc.bigInt({ max: min - 1n }))
      .map(String);
    const respelt = fc
      .tuple(int64, fc.constantFrom("+", "0", "00", "-0", "%20", "1.", "0x"))
      .map(([id, prefix]) => `${prefix}${id < 0n ? -id : id}`);
    const tailed = fc
      .tuple(int64, fc.constantFrom(".0", "e0", "n", "%20", "_", ",", "%0A"))
      .map(([id, tail]) => `${id}${tail}`);
    await fc.assert(
      fc.asyncProperty(fc.oneof(outside, respelt, tailed), async (spelling) => {
        expectError(await service.call("GET", `/pets/${spelling}`, { key }), "invalid_request");
      }),
      runs(300 * share),
    );
  });
});
