import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { csvCell } from "../../src/domain/values/spreadsheet-text.ts";
import { splitCells } from "../../src/files/csv.ts";
import { createJsonArraySplitter } from "../../src/files/json-array.ts";
import { createLineSplitter, type Splitter, type TakeText } from "../../src/files/lines.ts";

type Create = (found: TakeText) => Splitter;

const createCsvSplitter: Create = (found) => createLineSplitter(found, { quotes: true });
const createPlainSplitter: Create = (found) => createLineSplitter(found, { quotes: false });

/** Passes a text in pieces. The cuts can be anywhere, also inside a character. */
function split(create: Create, text: string, cuts: readonly number[]) {
  const places = cuts.map((cut) => cut % (text.length + 1)).sort((one, other) => one - other);
  const found: { line: number; text: string }[] = [];
  const splitter = create((line, one) => found.push({ line, text: one }));
  let from = 0;
  for (const place of [...places, text.length]) {
    splitter.take(text.slice(from, place));
    from = place;
  }
  splitter.end();
  return found;
}

const cuts = fc.array(fc.nat(2_000), { maxLength: 30 });
const space = fc.constantFrom("", " ", "\n", "\r\n", "\t", " \n\n ");
const awkward = fc.string({
  unit: fc.constantFrom('"', "\\", ",", "\n", "\r", "[", "]", "{", "}", "|", "a", "é", "🐕", " "),
  maxLength: 12,
});

describe("a JSON array", () => {
  const value = fc.oneof(awkward, fc.jsonValue({ depthSize: "small" }));

  test("is split into the elements that JSON.parse finds, wherever the pieces end", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(value, space, space)), space, cuts, (items, edge, places) => {
        const body = items.map(([item, before, after]) => before + JSON.stringify(item) + after);
        const text = `${edge}[${body.join()}${edge}]${edge}`;
        const found = split(createJsonArraySplitter, text, places);
        expect(found.map((one) => JSON.parse(one.text))).toEqual(JSON.parse(text));
      }),
    );
  });

  test("reports the line on which each element starts", () => {
    const text = '\n[\n{"a":\n1}, \n\n{"b":"\\"]"}\n,3]\n';
    const found = split(createJsonArraySplitter, text, [7, 8, 15]);
    expect(found.map((one) => [one.line, one.text.trim()])).toEqual([
      [3, '{"a":\n1}'],
      [6, '{"b":"\\"]"}'],
      [7, "3"],
    ]);
  });

  test("is accepted only if JSON.parse accepts it", () => {
    const tokens = fc.constantFrom("[", "]", "{", "}", ",", '"', "1", '"a":', "\n", "\\", "null");
    fc.assert(
      fc.property(fc.array(tokens, { maxLength: 14 }), cuts, (parts, places) => {
        const text = `[${parts.join("")}]`;
        let elements: unknown;
        try {
          const found = split(createJsonArraySplitter, text, places);
          elements = found.map((one) => JSON.parse(one.text));
        } catch {
          expect(() => JSON.parse(text)).toThrow();
          return;
        }
        expect(elements).toEqual(JSON.parse(text));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("comma-separated values", () => {
  const cell = fc.oneof(awkward, fc.string());

  test("are the same cells after they are written and read, wherever the pieces end", () => {
    const table = fc.integer({ min: 1, max: 4 }).chain((width) =>
      fc.array(
        // A row of spaces is a blank line. Rows of an import start with an id, so none is blank.
        fc
          .tuple(fc.bigInt().map(String), fc.array(cell, { minLength: width, maxLength: width }))
          .map(([first, rest]) => [first, ...rest]),
      ),
    );
    fc.assert(
      fc.property(
        table,
        fc.constantFrom("\n", "\r\n"),
        fc.constantFrom(",", ";", "\t"),
        cuts,
        (rows, end, delimiter, places) => {
          const lineOf = (row: string[]) =>
            row.map((one) => csvCell(one, delimiter)).join(delimiter) + end;
          const found = split(createCsvSplitter, rows.map(lineOf).join(""), places);
          expect(found.map((one) => splitCells(one.line, one.text, delimiter))).toEqual(rows);
        },
      ),
    );
  });

  test("report the line on which each row starts, counting blank lines and quoted line breaks", () => {
    const text = 'a,b\n\n"x\ny",1\r\n  \r\n2,3';
    const found = split(createCsvSplitter, text, [5, 6, 9]);
    expect(found.map((one) => [one.line, splitCells(one.line, one.text)])).toEqual([
      [1, ["a", "b"]],
      [3, ["x\ny", "1"]],
      [6, ["2", "3"]],
    ]);
  });

  test("reject a quote inside an unquoted cell, after a quoted cell, and without an end", () => {
    const cells = (text: string) => () => splitCells(7, text);
    expect(cells('5" pipe,1')).toThrow("line 7: unexpected quote");
    expect(cells('"a"b,1')).toThrow("line 7: unexpected quote");
    expect(cells('1,"a')).toThrow("line 7: unclosed quote");
  });
});

describe("lines", () => {
  test("are split with their numbers and without blank lines, wherever the pieces end", () => {
    const line = fc.string({ unit: fc.constantFrom('"', "a", " ", "\r", "{"), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(line), cuts, (lines, places) => {
        const found = split(createPlainSplitter, lines.join("\n"), places);
        const expected = lines
          .map((text, at) => ({ line: at + 1, text }))
          .filter(({ text }) => text.trim() !== "");
        expect(found).toEqual(expected);
      }),
    );
  });

  test("are rejected at their bound, before they fill the memory", () => {
    for (const create of [createPlainSplitter, createCsvSplitter, createJsonArraySplitter]) {
      const splitter = create(() => {});
      splitter.take('["');
      const flood = () => {
        for (let piece = 0; piece < 100; piece++) splitter.take("x".repeat(65_536));
      };
      expect(flood).toThrow("line 1: the row has more than 2000000 characters");
    }
  });
});
