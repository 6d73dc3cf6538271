// Makes workbooks (.xlsx) as spreadsheet programs write them, and reads them as an import does.

import { crc32, deflateRawSync } from "node:zlib";
import type { FoundColumn } from "../../src/domain/catalogue/import-preview.ts";
import { createProblems, problemText } from "../../src/domain/catalogue/import-problems.ts";
import { petRows, type RowKind } from "../../src/domain/catalogue/imports.ts";
import { type Reading, readRecords } from "../../src/files/rows.ts";

/** A ZIP archive with these files. */
export function zip(files: Readonly<Record<string, string | Uint8Array>>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content as Uint8Array);
    const packed = deflateRawSync(bytes);
    // From the flags to the length of the name: the same in both headers.
    const middle = Buffer.alloc(22);
    middle.writeUInt16LE(8, 2);
    middle.writeUInt32LE(crc32(bytes), 8);
    middle.writeUInt32LE(packed.length, 12);
    middle.writeUInt32LE(bytes.length, 16);
    middle.writeUInt16LE(name.length, 20);
    const local = [Buffer.from("PK\x03\x04\x14\0", "latin1"), middle, Buffer.alloc(2)];
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const start = Buffer.from("PK\x01\x02\x14\0\x14\0", "latin1");
    directory.push(start, middle, Buffer.alloc(2), place, Buffer.from(name));
    const all = Buffer.concat([...local, Buffer.from(name), packed]);
    parts.push(all);
    offset += all.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, entries, end]);
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n';
const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/** A text, a number, or the XML of a whole cell after its place. */
export type CellValue = string | number | { readonly xml: string };

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** The XML of a sheet whose texts are `texts`, which grows. */
export function sheetXml(rows: Iterable<readonly CellValue[]>, texts: Map<string, number>): string {
  const lines: string[] = [];
  let line = 0;
  for (const row of rows) {
    line += 1;
    const cells = row.map((value, at) => {
      const place = `${String.fromCharCode(65 + at)}${line}`;
      if (value === "") return "";
      if (typeof value === "object") return `<c r="${place}" ${value.xml}`;
      if (typeof value === "number") return `<c r="${place}"><v>${value}</v></c>`;
      if (!texts.has(value)) texts.set(value, texts.size);
      return `<c r="${place}" t="s"><v>${texts.get(value)}</v></c>`;
    });
    lines.push(`<row r="${line}" spans="1:${row.length}">${cells.join("")}</row>`);
  }
  return `${declaration}<worksheet ${main}><sheetData>${lines.join("")}</sheetData></worksheet>`;
}

/** A workbook with these sheets. `more` replaces or adds files of it. */
export function workbook(
  sheets: Readonly<Record<string, Iterable<readonly CellValue[]>>>,
  more: Readonly<Record<string, string | Uint8Array>> = {},
): Buffer {
  const texts = new Map<string, number>();
  const names = Object.keys(sheets);
  const parts = Object.fromEntries(
    Object.values(sheets).map((rows, at) => [
      `xl/worksheets/sheet${at + 1}.xml`,
      sheetXml(rows, texts),
    ]),
  );
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`;
  const relations = [
    ...names.map((_, at) => relation(`rId${at + 1}`, "worksheet", `worksheets/sheet${at + 1}.xml`)),
    relation("rIdS", "styles", "styles.xml"),
    relation("rIdT", "sharedStrings", "sharedStrings.xml"),
  ].join("");
  const list = names.map(
    (name, at) => `<sheet name="${escaped(name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`,
  );
  const items = [...texts.keys()].map(
    (text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`,
  );
  const packageRelations = "http://schemas.openxmlformats.org/package/2006/relationships";
  return zip({
    "[Content_Types].xml": contentTypes(names.length),
    "_rels/.rels": `${declaration}<Relationships xmlns="${packageRelations}">${relation("rId1", "officeDocument", "xl/workbook.xml")}</Relationships>`,
    "xl/_rels/workbook.xml.rels": `${declaration}<Relationships xmlns="${packageRelations}">${relations}</Relationships>`,
    "xl/workbook.xml": `${declaration}<workbook ${main} xmlns:r="${office}"><workbookPr defaultThemeVersion="124226"/><sheets>${list.join("")}</sheets></workbook>`,
    "xl/styles.xml": stylesXml,
    "xl/sharedStrings.xml": `${declaration}<sst ${main} count="${texts.size}" uniqueCount="${texts.size}">${items.join("")}</sst>`,
    ...parts,
    ...more,
  });
}

function contentTypes(sheets: number): string {
  const type = "application/vnd.openxmlformats-officedocument.spreadsheetml";
  const part = (name: string, kind: string) =>
    `<Override PartName="/xl/${name}.xml" ContentType="${type}.${kind}+xml"/>`;
  const parts = [
    part("workbook", "sheet.main"),
    ...Array.from({ length: sheets }, (_, at) => part(`worksheets/sheet${at + 1}`, "worksheet")),
    part("styles", "styles"),
    part("sharedStrings", "sharedStrings"),
  ];
  return `${declaration}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${parts.join("")}</Types>`;
}

/** Style 1 is a date of Germany, style 2 a number with groups, and style 3 one with 13 digits. */
const stylesXml = `${declaration}<styleSheet ${main}><numFmts count="2"><numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy;@"/><numFmt numFmtId="165" formatCode="0000000000000"/></numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="3" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Standard" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

/** Reads a workbook in pieces, as an import does. */
export async function readWorkbook<T extends object>(
  bytes: Uint8Array,
  reading: Reading = {},
  rows: RowKind<T> = petRows as unknown as RowKind<T>,
) {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
  }
  const problems = createProblems();
  const found: FoundColumn[] = [];
  const batches = readRecords(pieces(), "xlsx", rows, problems, { ...reading, found });
  const records = (await Array.fromAsync(batches)).flat();
  const given = records.map((record) =>
    Object.fromEntries(
      Object.entries(record).filter(([name, value]) => value !== undefined && name !== "isBad"),
    ),
  );
  const list = problems.list().map((problem) => `${problem.line}: ${problemText(problem)}`);
  return { records: given, problems: list, found };
}
