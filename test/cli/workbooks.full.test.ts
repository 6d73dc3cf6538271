import { expect, test } from "bun:test";
import { readWorkbook, workbook } from "../support/workbooks.ts";

test("a workbook that is too large is refused with the bound", async () => {
  const row = (cells: string) => `<row>${cells}</row>`;
  const shared = (count: number) => `<c t="s"><v>0</v></c>`.repeat(count);
  const long = "x".repeat(32_767);
  const inline = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
  const ids = Array.from({ length: 150_000 }, (_, at) => row(`<c><v>${at}</v></c>`)).join("");
  const cases: [bound: string, sheet: string, texts?: string, more?: Record<string, string>][] = [
    ["150002: the sheet has more than 150000 rows", `${row(inline("petId"))}<row/>${ids}`],
    ["a text of the workbook has more than 32767 characters", row(inline(`${long}x`))],
    ["a text of the workbook has more than 32767 characters", row(`<c><v>${long}1</v></c>`)],
    ["more than 32767 characters", row(""), `<si><t>${long}</t><t>x</t></si>`],
    ["1: the row has more than 2000000 characters", row(inline(long).repeat(62))],
    [
      "the sheet has more than 67108864 characters",
      row(inline("petId")) + row(`<c><v>1</v></c>${shared(60)}`).repeat(35),
      `<si><t>${long}</t></si>`,
    ],
    ["has a tag or text of more than 400000 characters", row(`<c ${" ".repeat(500_000)}`)],
    ["has a tag or text of more than 400000 characters", " ".repeat(500_000)],
    ["the workbook has more than 24 MiB of texts", "", `<si><t>${long}</t></si>`.repeat(800)],
    ["the workbook has a text with a lone surrogate", "", "<si><t>_xD800_</t></si>"],
    [
      "styles.xml has more than 500000 elements",
      "",
      "",
      { "xl/styles.xml": "<a/>".repeat(500_001) },
    ],
    ["more than 10000 number formats", "", "", { "xl/styles.xml": numbered("numFmt", "numFmtId") }],
    [
      "more than 10000 elements",
      "",
      "",
      { "xl/_rels/workbook.xml.rels": numbered("Relationship", "Id") },
    ],
  ];
  for (const [bound, rows, texts = "", more = {}] of cases) {
    const sheet = `<worksheet><sheetData>${rows}</sheetData></worksheet>`;
    const parts = {
      "xl/worksheets/sheet1.xml": sheet,
      "xl/sharedStrings.xml": `<sst>${texts}</sst>`,
    };
    const { problems } = await readWorkbook(workbook({ One: [] }, { ...parts, ...more }));
    expect(problems.join("\n")).toContain(bound);
  }
});

function numbered(name: string, attribute: string): string {
  return Array.from({ length: 10_001 }, (_, at) => `<${name} ${attribute}="x${at}"/>`).join("");
}

test("a workbook with a part of many megabytes is refused with a reason", async () => {
  const cases: [file: Uint8Array, problem: string][] = [
    [
      workbook(
        { One: [["petId"]] },
        { "xl/sharedStrings.xml": Buffer.alloc(65 * 1_048_576, `<si><t>${"x".repeat(10_000)}`) },
      ),
      "1: the workbook, or a part of it, has more than 64 MiB",
    ],
    [
      workbook(
        { One: [["petId"]] },
        { "xl/sharedStrings.xml": Buffer.alloc(65 * 1_048_576, `<si>${"x".repeat(991)}</si>`) },
      ),
      "1: the workbook, or a part of it, has more than 64 MiB",
    ],
    [
      workbook({ One: [["petId"]] }, { "xl/sharedStrings.xml": "<si/>".repeat(2_000_001) }),
      "1: the workbook has more than 2000000 texts",
    ],
    // Each of these would take hours if it was searched from every place.
    [
      workbook(
        { One: [["petId"], [1]] },
        { "xl/sharedStrings.xml": `<si>${"<rPh".repeat(400_000)}</si>` },
      ),
      "1: xl/sharedStrings.xml has a tag or text of more than 400000 characters",
    ],
    [
      workbook(
        { One: [["x"]] },
        { "xl/styles.xml": `<numFmt formatCode="${"[".repeat(1_900_000)}"/>` },
      ),
      "1: xl/styles.xml has a tag or text of more than 400000 characters",
    ],
  ];
  // Below the bound, they still take no time.
  const brackets = `<numFmt formatCode="${"[".repeat(390_000)}"/>`;
  cases.push([workbook({ One: [["x"]] }, { "xl/styles.xml": brackets }), "1: unknown column 'x'"]);
  for (const [file, problem] of cases) {
    expect((await readWorkbook(file)).problems.join("\n")).toContain(problem);
  }
});
