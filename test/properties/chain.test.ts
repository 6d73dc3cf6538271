import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { SQL } from "bun";
import fc from "fast-check";
import { genesisHash, type HashedRow, hashRow, rowText } from "../../src/domain/ledger/chain.ts";
import { petStatuses, quantityMax } from "../../src/domain/ledger/inventory.ts";
import { causes } from "../../src/domain/ledger/ledger.ts";
import { int64Max, int64Min } from "../../src/domain/values/int64.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { runs } from "../support/properties/runs.ts";

/** Characters that JSON escapes, that some encoders escape, or that take several bytes. */
const hostile = fc.constantFrom(
  ...['"', "\\", "/", "'", "<", "&", "\u2028", "\u2029", "\u007f", "\u0080", "\ufeff", "\ufffd"],
  ...["🐢", "\u{10ffff}", "e\u0301", "ß", "İ", "null", "\\u0000", "]", ","],
  ...Array.from({ length: 31 }, (_, code) => String.fromCharCode(code + 1)),
);
const anyText = fc.oneof(
  fc.string({ unit: hostile, maxLength: 20 }),
  fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => text.replaceAll("\0", "")),
);
const quantity = fc.integer({ min: 0, max: quantityMax });
const stock = fc.record({ quantity, status: fc.constantFrom(...petStatuses) });
const optionalText = fc.option(anyText);
const row: fc.Arbitrary<HashedRow> = fc.record({
  seq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  petId: fc.bigInt({ min: int64Min, max: int64Max }),
  before: fc.option(stock),
  after: fc.option(stock),
  cause: fc.constantFrom(...causes),
  keyId: optionalText,
  requestId: optionalText,
  reason: optionalText,
  at: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
});

/** The fields in the order in which docs/proof.md lists them. */
function fieldsOf({ before, after, ...row }: HashedRow): readonly unknown[] {
  return [
    ...[row.seq, row.petId, before?.quantity ?? null, before?.status ?? null],
    ...[after?.quantity ?? null, after?.status ?? null, row.cause, row.keyId, row.requestId],
    ...[row.reason, row.at],
  ];
}

test("the text of a row is a JSON array without spaces, with pet ids in full", () => {
  fc.assert(
    fc.property(row, (any) => {
      const values = fieldsOf(any).map((value) =>
        typeof value === "bigint" ? `${value}` : JSON.stringify(value),
      );
      expect(rowText(any)).toBe(`[${values.join()}]`);
      const digest = createHash("sha256").update(genesisHash).update(rowText(any)).digest("hex");
      expect(hashRow(genesisHash, any)).toBe(digest);
    }),
    runs(500),
  );
});

test("PostgreSQL computes the same texts and hashes as the service, whatever a row contains", async () => {
  await using sql = new SQL(await createdDatabase(), { max: 1, bigint: true });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
      const wanted = rows.map(
        (_, at) => `(${at}, petstore_row_text(${parameters(11 * at).join()}))`,
      );
      const [found] = await sql.unsafe(
        `SELECT array_agg(text ORDER BY at) AS texts,
                petstore_chain('${genesisHash}', text ORDER BY at) AS hash
         FROM (VALUES ${wanted.join()}) AS row(at, text)`,
        rows.flatMap(fieldsOf),
      );
      expect(found.texts).toEqual(rows.map(rowText));
      expect(found.hash).toBe(rows.reduce(hashRow, genesisHash));
    }),
    runs(100),
  );
});

/** The parameters of a row, numbered after those of the rows before it. */
function parameters(from: number): string[] {
  const types = [
    ...["int8", "int8", "int8", "text", "int8", "text", "text", "text", "text", "text"],
    "int8",
  ];
  return types.map((type, at) => `$${from + at + 1}::${type}`);
}
