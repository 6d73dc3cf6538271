import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { program } from "../support/program.ts";
import { type CellValue, workbook } from "../support/workbooks.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-workbooks-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What is printed about a workbook, and how much memory the process has used at most. */
async function importOf(file: Buffer) {
  const path = join(folder, "list.xlsx");
  writeFileSync(path, file);
  const words = ["pets", "import", path, "--dry-run", "--map", "description=ignore"];
  const command = [...program, ...words, "--database", `sqlite:${join(folder, "none.db")}`];
  const run = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const texts = [run.stdout, run.stderr].map((stream) => new Response(stream).text());
  const said = (await Promise.all(texts)).join("");
  await run.exited;
  return { said, mebibytes: run.resourceUsage()!.maxRSS / 1_048_576 };
}

const header = `<row><c t="inlineStr"><is><t>petId</t></is></c><c r="ALK1" t="inlineStr"><is><t>name</t></is></c></row>`;
const parts = (rows: string, texts: string) => ({
  "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${header}${rows}</sheetData></worksheet>`,
  "xl/sharedStrings.xml": `<sst>${texts}</sst>`,
});
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const long = "x".repeat(32_767);
const farRow = `<row><c r="ALK1"><v>1</v></c></row>`;
const sharedRow = `<row>${'<c t="s"><v>0</v></c>'.repeat(50)}</row>`;
const kinds: [said: string, rows: string, texts: string][] = [
  ["more than 1048576 rows", "<row/>".repeat(1_100_000), ""],
  ["300000 problems", farRow.repeat(300_000), ""],
  ["more than 10000000 elements", `<row>${"<c/>".repeat(10_000_001)}</row>`, ""],
  ["nothing was imported", sharedRow.repeat(50), `<si><t>${long}</t></si>`],
  ["Nothing was changed", "", "<si><t>x</t></si>".repeat(1_900_000)],
  [
    "has no rows",
    "",
    numbers(500_000)
      .map((at) => `<si><t>Some text ${at}</t></si>`)
      .join(""),
  ],
];

test("a hostile workbook takes at most 64 MB more than an empty one", async () => {
  const idle = await importOf(workbook({ One: [["petId", "name"]] }));
  for (const [said, rows, texts] of kinds) {
    const run = await importOf(workbook({ One: [] }, parts(rows, texts)));
    expect(run.said).toContain(said);
    expect(run.mebibytes - idle.mebibytes).toBeLessThan(64);
  }
}, 300_000);

test("a list of 100,000 pets with every field and a description is read", async () => {
  function* rows(): Generator<readonly CellValue[]> {
    yield [
      ...["petId", "name", "category", "tags", "photoUrls", "status", "quantity", "barcode"],
      ...["lowStockAt", "description"],
    ];
    const praise = "A friendly animal with soft fur that likes to play. ".repeat(3);
    for (const id of numbers(100_000)) {
      const texts = [`Dwarf rabbit ${id}`, `Category ${id % 50}`, "small|soft"];
      const photo = `https://photos.example/${id}.jpg`;
      yield [id, ...texts, photo, "available", id % 90, `40063${id}`, 3, `${praise}${id}`];
    }
  }
  expect((await importOf(workbook({ Stock: rows() }))).said).toContain("100000 created");
}, 300_000);
