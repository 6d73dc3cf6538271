import { expect, test } from "bun:test";
import fc from "fast-check";
import { createProblems } from "../../src/domain/catalogue/import-problems.ts";
import { petRows } from "../../src/domain/catalogue/imports.ts";
import {
  type CellKind,
  csvLine,
  neutralised,
  original,
} from "../../src/domain/values/spreadsheet-text.ts";
import { petContent } from "../../src/files/exports.ts";
import { type Delimiter, delimiters } from "../../src/files/formats.ts";
import { readRecords } from "../../src/files/rows.ts";
import { runs } from "../support/properties/runs.ts";

const awkward = fc.string({
  unit: fc.constantFrom(...`'=+-@\t\r\n",;|[aé＝＋－＠`),
  minLength: 1,
  maxLength: 6,
});

/** What some program could take for a cell of a line: it splits at other characters, or ignores quotes. */
const possibleCells = (line: string) => line.split(/[,;|\t\r\n]/);
const runsAsFormula = /^["]*[=+\-@\t\r＝＋－＠]/;
/** The marks of ids and codes, and numbers. */
const isOurs = /^(?:"?=""|-?[0-9]+$)/;

test("no text is a formula wherever a cell starts, and every text is read back unchanged", () => {
  fc.assert(
    fc.property(fc.oneof(awkward, fc.string(), fc.string({ unit: "binary" })), (text) => {
      const written = neutralised(text);
      expect(possibleCells(written).filter((cell) => runsAsFormula.test(cell))).toEqual([]);
      expect(original(written)).toBe(text);
      expect(original(neutralised(written))).toBe(written);
    }),
    runs(2_000),
  );
});

const kinds: Record<CellKind, fc.Arbitrary<unknown>> = {
  id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  integer: fc.nat(),
  flag: fc.boolean(),
  text: awkward,
  code: awkward,
  texts: fc.array(awkward),
};

test("no kind of cell is a formula, whatever a program splits the line at", () => {
  const delimiter = fc.constantFrom(...Object.values(delimiters));
  const columns = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, kind as CellKind]));
  fc.assert(
    fc.property(fc.record(kinds), delimiter, (fields, between) => {
      const cells = possibleCells(csvLine(columns, fields, between));
      expect(cells.filter((cell) => runsAsFormula.test(cell) && !isOurs.test(cell))).toEqual([]);
    }),
    runs(1_000),
  );
});

test("pets are the same after an export and an import, with every delimiter and encoding", async () => {
  const pet = fc.record({
    petId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    name: awkward,
    category: fc.option(awkward),
    tags: fc.array(awkward, { maxLength: 3 }),
    barcode: fc.constantFrom(null, "007", '=1"2"', ";'\"=1;-2", "+A1|-B", "4006381333931"),
    lowStockAt: fc.option(fc.nat()),
    quantity: fc.nat(),
  });
  const delimiter = fc.constantFrom<Delimiter[]>("comma", "semicolon", "tab");
  const encoding = fc.constantFrom<BufferEncoding[]>("utf8", "latin1");
  const columns = petContent.columns;
  await fc.assert(
    fc.asyncProperty(
      fc.array(pet),
      delimiter,
      encoding,
      fc.boolean(),
      async (pets, name, code, hasMark) => {
        const mark = hasMark && code !== "latin1" ? "\uFEFF" : "";
        const lines = pets.map((one) =>
          csvLine(columns, { photoUrls: [], status: "sold", ...one }, delimiters[name]),
        );
        const text = `${mark}${[Object.keys(columns).join(delimiters[name]), ...lines].join("\r\n")}\r\n`;
        const bytes = Buffer.from(text, /[^\0-\xff]/.test(text) ? "utf8" : code);
        async function* pieces() {
          for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
        }
        const problems = createProblems();
        const read = (
          await Array.fromAsync(readRecords(pieces(), "csv", petRows, problems))
        ).flat();
        expect(problems.list()).toEqual([]);
        expect(read).toMatchObject(
          pets.map(({ category, tags, barcode, lowStockAt, ...rest }) => ({
            ...rest,
            // An empty cell is a field that is not given.
            category: category ?? undefined,
            barcode: barcode ?? undefined,
            lowStockAt: lowStockAt ?? undefined,
            tags: tags.length === 0 ? undefined : tags,
          })),
        );
      },
    ),
    runs(300),
  );
});

test("a number is read exactly as it is meant, or refused", async () => {
  async function quantityOf(text: string, name: Delimiter): Promise<number | undefined> {
    const cell = `"${text}"`;
    async function* bytes() {
      yield Buffer.from(["petId", "name", "quantity"].join(delimiters[name]));
      yield Buffer.from(`\n${["1", "x", cell].join(delimiters[name])}\n`);
    }
    const [record] = (
      await Array.fromAsync(readRecords(bytes(), "csv", petRows, createProblems()))
    ).flat();
    return record?.quantity ?? undefined;
  }
  const both: Record<string, number | undefined> = {
    ...{ "3,0": 3, "3.0": 3, "3,00": 3, "12": 12, "1.234,00": 1234, "1,234.00": 1234 },
    ...{ "1.234.567": 1234567, "1,234,567": 1234567, "1 234": 1234, "1'234": 1234, "0,000": 0 },
    ...{ "1\u202f234": 1234, "12345.000": 12345, "3,5": undefined, "1,234,56": undefined },
    ...{ "1.23.456": undefined, "1,234": undefined, "1,000": undefined, "-1": undefined },
    ...{ "1.234,5": undefined, "1 234 5": undefined, "1.234,000.00": undefined },
  };
  for (const [text, quantity] of Object.entries(both)) {
    for (const name of ["comma", "semicolon", "tab"] as const) {
      expect([text, name, await quantityOf(text, name)]).toEqual([text, name, quantity]);
    }
  }
  for (const text of ["1.234", "1.000"]) {
    expect(await quantityOf(text, "semicolon")).toBe(Number(text.replace(".", "")));
    expect(await quantityOf(text, "comma")).toBeUndefined();
    expect(await quantityOf(text, "tab")).toBeUndefined();
  }
});
