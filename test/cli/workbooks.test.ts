import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { orderRows, type RowKind } from "../../src/domain/catalogue/imports.ts";
import { readSheet } from "../../src/files/xlsx.ts";
import { type CellValue, escaped, readWorkbook, workbook, zip } from "../support/workbooks.ts";

const german = new Map([
  ["Artikel", "petId"],
  ["Bezeichnung", "name"],
  ["Bestand", "quantity"],
  ["Preis", "ignore"],
]);

test("a German workbook is read with the fields that its headers are mapped to", async () => {
  const file = readFileSync(join(import.meta.dir, "../fixtures/bestand.xlsx"));
  const { records, problems, found } = await readWorkbook(file, { map: german });
  expect(problems).toEqual([]);
  expect(records).toEqual([
    { line: 2, petId: 4711n, name: "Zwergkaninchen „Löwenköpfchen“", quantity: 12 },
    { line: 3, petId: 9007199254740993n, name: "Größere Schildkröte & Co. <2 kg>", quantity: 1234 },
    { line: 5, petId: 4713n, name: "Guppy", quantity: 250 },
  ]);
  expect(found.map(({ header, field }) => [header, field])).toEqual([...german]);
  const unmapped = await readWorkbook(file);
  expect(unmapped.problems).toEqual([expect.stringContaining("1: unknown column 'Artikel'")]);
  expect(unmapped.found.map(({ field }) => field)).toEqual([null, null, null, null]);
});

test("every kind of cell is read, also without a place", async () => {
  const xml = (cell: string): CellValue => ({ xml: cell });
  const dates = workbook({
    Orders: [
      ["id", "petId", "quantity", "shipDate", "status", "complete"],
      [1, 7, 2, "2026-05-01", "placed", xml('t="b"><v>1</v></c>')],
      [
        xml('t="str"><f>1&amp;""</f><v>2</v></c>'),
        xml("><f>SUM(A1:A2)</f><v>8</v></c>"),
        xml("><v>3.0</v></c>"),
        "",
        xml('t="inlineStr"><is><r><t>pla</t></r><r><t>ced</t></r><rPh><t>x</t></rPh></is></c>'),
      ],
    ],
  });
  const orders = await readWorkbook(dates, {}, orderRows as RowKind<object>);
  expect(orders.problems).toEqual([]);
  expect(orders.records).toMatchObject([
    { id: 1n, petId: 7n, quantity: 2, shipDate: Date.UTC(2026, 4, 1), complete: true },
    { id: 2n, petId: 8n, quantity: 3, status: "placed" },
  ]);
  const sheet = `<x:worksheet xmlns:x="m"><x:sheetData><x:row><x:c t="inlineStr"><x:is><x:t>petId</x:t></x:is></x:c><x:c t='inlineStr'><x:is><x:t>name</x:t></x:is></x:c></x:row><x:row/><x:row><x:c><x:v>5</x:v></x:c><x:c t="inlineStr"><x:is><x:t>&lt;a>&#228;_x000D_&quot;</x:t></x:is></x:c></x:row></x:sheetData></x:worksheet>`;
  const bare = workbook({ One: [] }, { "xl/worksheets/sheet1.xml": sheet });
  expect((await readWorkbook(bare)).records).toEqual([{ line: 3, petId: 5n, name: '<a>ä\r"' }]);
});

test("an id that a spreadsheet program has rounded is refused, and one of 15 digits is not", async () => {
  const rounded = "is a number of more than 15 digits, which a spreadsheet program has rounded";
  const rows: CellValue[][] = [["petId", "name"]];
  for (const value of ["9007199254740990", "9.00719925474099E+15", "1E+15", "-1E+300"]) {
    rows.push([{ xml: `><v>${value}</v></c>` }, "Rex"]);
  }
  rows.push([{ xml: "><v>999999999999999</v></c>" }, "Rex"], ["9007199254740993", "Rex"]);
  rows.push(["9.00719925474099E+15", "Rex"], [{ xml: 't="e"><v>#NV</v></c>' }, "Rex"]);
  rows.push([7, { xml: "><f>A2&amp;B2</f></c>" }]);
  const { records, problems } = await readWorkbook(workbook({ One: rows }));
  expect(records.map(({ petId }) => petId)).toEqual([999999999999999n, 9007199254740993n]);
  expect(problems).toEqual([
    expect.stringContaining(`2: petId '9007199254740990' ${rounded}`),
    expect.stringContaining(`3: petId '9.00719925474099E+15' ${rounded}`),
    expect.stringContaining(`4: petId '1E+15' ${rounded}`),
    expect.stringContaining(`5: petId '-1E+300' ${rounded}`),
    expect.stringMatching(/^8: petId '9.00719925474099E\+15' must be .* may have changed/),
    "9: petId '#NV' is an error in the sheet",
    expect.stringContaining("10: name '' is a formula without a result"),
  ]);
});

test("a barcode is read exactly, and a number that became a date is refused", async () => {
  const rows: CellValue[][] = [["petId", "name", "barcode", "lowStockAt", "quantity"]];
  rows.push([1, "a", { xml: "><v>4006381333931</v></c>" }, 3, 12]);
  rows.push([2, "b", { xml: "><v>4.00638133393E+12</v></c>" }, "1 000", "3,0"]);
  rows.push([3, "c", "0012345678905", "", { xml: "><v>12.0</v></c>" }]);
  rows.push([4, "d", { xml: "><v>1234567890123456</v></c>" }]);
  rows.push([6, "g", { xml: 's="3"><v>12345678906</v></c>' }, { xml: 't="s"/>' }]);
  rows.push([7, "h", { xml: 't="s"><v></v></c>' }, { xml: 't="b"><v/></c>' }]);
  rows.push([5, "e", "f", { xml: 's="1"><v>46145</v></c>' }, { xml: "><v>1.234</v></c>" }]);
  const { records, problems } = await readWorkbook(workbook({ One: rows }));
  expect(records.slice(3)).toEqual([
    { line: 6, petId: 6n, name: "g", barcode: "0012345678906" },
    { line: 7, petId: 7n, name: "h" },
  ]);
  expect(records.slice(0, 3)).toMatchObject([
    { barcode: "4006381333931", lowStockAt: 3, quantity: 12 },
    { barcode: "4006381333930", lowStockAt: 1000, quantity: 3 },
    { barcode: "0012345678905", quantity: 12 },
  ]);
  expect(problems).toEqual([
    expect.stringContaining("5: barcode '1234567890123456' is a number of more than 15 digits"),
    expect.stringContaining("8: lowStockAt '46145' is a date in the sheet; choose the type Text"),
  ]);
});

test("phonetic readings are no part of a text, in a cell and among the shared texts", async () => {
  const phonetic = `<si><t>犬</t><rPh sb="0" eb="1"><t>いぬ</t></rPh><phoneticPr fontId="1"/></si>`;
  const inline = { xml: `t="inlineStr"><is>${phonetic.slice(4, -5)}</is></c>` };
  const shared = { xml: 't="s"><v>2</v></c>' };
  const rows: CellValue[][] = [
    ["petId", "name"],
    [1, inline],
    [2, shared],
  ];
  const texts = `<sst><si><t>petId</t></si><si><t>name</t></si>${phonetic}</sst>`;
  const { records, problems } = await readWorkbook(
    workbook({ One: rows }, { "xl/sharedStrings.xml": texts }),
  );
  expect(problems).toEqual([]);
  expect(records.map(({ name }) => name)).toEqual(["犬", "犬"]);
});

test("every number format of a date is one, and no other", async () => {
  const dates = [14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47];
  const custom = ["[h]", "[mm]:ss", "d", "yyyy", '"day" 0', "[Red]0", "\\d0", "[$-407]mmm", "0.00"];
  const ids = [...Array.from({ length: 50 }, (_, at) => at), ...custom.map((_, at) => 164 + at)];
  const isDate = (id: number) =>
    dates.includes(id) || /^\[[hm]|^[dy]|mmm/.test(custom[id - 164] ?? "");
  const formats = custom.map(
    (code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code.replaceAll('"', "&quot;")}"/>`,
  );
  const xfs = ids.map((id) => `<xf numFmtId="${id}"/>`).join("");
  const styles = `<styleSheet><numFmts>${formats.join("")}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${xfs}</cellXfs></styleSheet>`;
  const rows: CellValue[][] = [["petId", "name", "quantity"]];
  rows.push(...ids.map((id, at) => [at + 1, "a", { xml: `s="${at}"><v>${id}</v></c>` }]));
  const file = workbook({ One: rows }, { "xl/styles.xml": styles });
  const { records, problems } = await readWorkbook(file);
  expect(records.map(({ quantity }) => quantity)).toEqual(ids.filter((id) => !isDate(id)));
  expect(problems).toHaveLength(ids.filter(isDate).length);
  for (const problem of problems) expect(problem).toContain("is a date in the sheet");
});

test("a row costs its cells, and not its width", async () => {
  const cell = (row: number) => `<c r="ALL${row}"><v>1</v></c>`;
  const rows = Array.from({ length: 100 }, (_, at) => `<row r="${at + 1}">${cell(at + 1)}</row>`);
  const sheet = `<worksheet><sheetData>${rows.join("")}<row r="200"/></sheetData></worksheet>`;
  const file = workbook({ One: [] }, { "xl/worksheets/sheet1.xml": sheet });
  async function* bytes() {
    yield file;
  }
  const read = (await Array.fromAsync(readSheet(bytes()))).flatMap((some) => [...some]);
  expect(read).toHaveLength(100);
  for (const { cells } of read) expect([...cells]).toEqual([[999, "1"]]);
});

test("a broken or hostile workbook is refused with a reason", async () => {
  const good = workbook({ One: [["petId"], [1]] });
  const damaged = "1: the file is not a workbook (.xlsx), is damaged, or has a password";
  const withSheet = (sheet: string | Uint8Array) =>
    workbook({ One: [] }, { "xl/worksheets/sheet1.xml": sheet });
  const rows = (content: string) => withSheet(`<worksheet><sheetData>${content}`);
  const cases: [file: Uint8Array, problem: string][] = [
    [Buffer.from("PK\x03\x04"), damaged],
    [good.subarray(0, good.length - 30), damaged],
    [Buffer.concat([good.subarray(0, 200), good.subarray(300)]), "1: the file is not a workbook"],
    [zip({ "readme.txt": "hello" }), "1: the file is not a workbook: it has no xl/_rels/workbook"],
    [zip({ "../../etc/passwd": "x" }), "1: the file is not a workbook: it has no xl/_rels"],
    [
      withSheet('<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>'),
      "1: the workbook has comments or a document type",
    ],
    [rows('<row r="1"><c><v>&b;</v></c></row>'), "1: the workbook has an unknown entity"],
    [rows('<row r="1"'), "1: the sheet is empty"],
    [rows('<row r="1"><c><v>1</v></c>'), "1: the workbook ends inside of an element"],
    [rows('<row r="Infinity"/>'), "1: the rows or cells of the sheet are not in order"],
    [rows('<row r="2"/><row r="2"/>'), "the rows or cells of the sheet are not in order"],
    [rows('<row r="1"><c r="B1"/><c r="A1"/></row>'), "the rows or cells of the sheet are not in"],
    [rows('<row r="1"><c r="XFD1"><v>1</v></c></row>'), "1: has more than 1000 columns"],
    [rows('<row r="1"><c r="B1" a=">" t="s"><v>99</v></c></row>'), "1: unknown column '99'"],
    [rows('<row r="1"><c t="s"><v>99</v></c></row>'), "1: unknown column '99'"],
    [withSheet(""), "1: the sheet is empty"],
    [rows("<a>".repeat(300_000)), "1: the sheet is empty"],
  ];
  for (const [file, problem] of cases) {
    expect((await readWorkbook(file)).problems.join("\n")).toContain(problem);
  }
  // A bit that was changed is found by the checksum or by the inflater, wherever it is.
  const start = good.indexOf("xl/worksheets/sheet1.xml") + 24;
  for (const at of [start + 1, start + 20, start + 50]) {
    const changed = Buffer.from(good);
    changed[at]! ^= 0x10;
    expect((await readWorkbook(changed)).problems).not.toEqual([]);
  }
});

test("texts are exact, whatever they contain", async () => {
  const names = ["a\nb", " x ", "_x0041_ is escaped", "ünï", "=1+1", "🐢", '"', escaped("<&>")];
  const rows = names.map((name, at) => [at + 1, name.replace("_x", "_x005F_x")]);
  const { records } = await readWorkbook(workbook({ One: [["petId", "name"], ...rows] }));
  expect(records.map(({ name }) => name)).toEqual(names);
});
