import { afterAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { program } from "../support/program.ts";
import { type CellValue, workbook } from "../support/workbooks.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-workbooks-"));
afterAll(() => rmSync(folder, { recursive: true }));

// That of the process itself: what the parent used counts in `resourceUsage`, too.
const report = join(folder, "report.ts");
const status = join(folder, "status");
writeFileSync(
  report,
  `import { copyFileSync } from "node:fs";
   process.on("exit", () => copyFileSync("/proc/self/status", ${JSON.stringify(status)}));`,
);

/** What is printed about a file, and how much memory the process has used at most. */
async function importOf(file: Buffer | string, format = "xlsx") {
  const path = join(folder, `list.${format}`);
  writeFileSync(path, file);
  const [runtime, main] = program;
  const map = format === "xlsx" ? ["--map", "description=ignore"] : [];
  const words = ["pets", "import", path, "--dry-run", ...map];
  const command = [runtime!, "--preload", report, main!, ...words];
  const run = Bun.spawn([...command, "--database", `sqlite:${join(folder, "none.db")}`], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const texts = [run.stdout, run.stderr].map((stream) => new Response(stream).text());
  const said = (await Promise.all(texts)).join("");
  await run.exited;
  const [, kibibytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(status, "utf8"))!;
  return { said, mebibytes: Number(kibibytes) / 1_024 };
}

const header = `<row><c t="inlineStr"><is><t>petId</t></is></c><c r="ALK1" t="inlineStr"><is><t>name</t></is></c></row>`;
const parts = (rows: string, texts: string) => ({
  "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${header}${rows}</sheetData></worksheet>`,
  "xl/sharedStrings.xml": `<sst>${texts}</sst>`,
});
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const long = "x".repeat(32_767);
const farRow = `<row><c r="ALK1"><v>1</v></c></row>`;
const petRows = (count: number) =>
  numbers(count)
    .map((at) => `<row/><row><c><v>${at}</v></c><c r="ALK1" t="str"><v>Rex ${at}</v></c></row>`)
    .join("");
const sharedRow = `<row>${'<c t="s"><v>0</v></c>'.repeat(50)}</row>`;
/** A tag that no row needs. With it, the piece of the sheet around a cell takes two bytes per character. */
const junk = (length: number) => `<q x="中${"y".repeat(length)}"/>`;
const scattered = numbers(990).map((at) => `<c t="str"><v>aaa${at}</v></c>${junk(131_000)}`);
const badRows = numbers(300).map(
  (at) => `${junk(398_000)}<row><c t="str"><v>${"z".repeat(300)}${at}</v></c></row>`,
);
const kinds: [said: string, rows: string, texts: string][] = [
  ["more than 150000 rows", petRows(150_000), ""],
  ["149999 created", petRows(149_999), ""],
  ["10000 problems", farRow.repeat(140_000), ""],
  ["more than 6000000 elements", `<row>${"<c/>".repeat(400_000)}</row>`.repeat(16), ""],
  // Rows that only have a format.
  ["Nothing was changed", "<row/>".repeat(1_048_575), ""],
  ["the row has more than 2000000 characters", `<row>${scattered.join("")}</row>`, ""],
  ["300 problems", badRows.join(""), ""],
  ["nothing was imported", sharedRow.repeat(50), `<si><t>${long}</t></si>`],
  ["Nothing was changed", "", "<si><t>x</t></si>".repeat(1_900_000)],
  [
    "Nothing was changed",
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

test("a valid list and hostile texts take at most 64 MB more than an empty list, too", async () => {
  const idle = (await importOf("petId,name\n", "csv")).mebibytes;
  const random = (length: number) => randomBytes(length).toString("hex");
  const inline = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
  const pets = numbers(110_000).map((at) => `<row><c><v>${at}</v></c>${inline(random(32))}</row>`);
  const names = `<row>${inline("petId")}${inline("name")}</row>`;
  const sheet = `<worksheet><sheetData>${names}${pets.join("")}</sheetData></worksheet>`;
  const list = workbook({ One: [] }, { "xl/worksheets/sheet1.xml": sheet });
  const tags = (item: string, count: number) => `${item},`.repeat(count).slice(0, -1);
  const row = (items: string) => `{"petId":1,"name":"a","tags":[${items}]}\n`.repeat(5);
  const real = numbers(100_000).map(
    (at) => `${at},Dwarf rabbit ${at},Category ${at % 50},small|soft,${at % 90},40063${at}\n`,
  );
  const attacks: [format: string, said: string, file: Buffer | string][] = [
    ["xlsx", "110000 created", list],
    ["csv", "9 problems", `petId,name,tags\n${`1,a,"[${tags("1", 900_000)}]"\n`.repeat(5)}`],
    ["csv", "9 problems", `petId,name,tags\n${`1,a,"${"[".repeat(1_900_000)}"\n`.repeat(5)}`],
    ["csv", "9 problems", `petId,name,tags\n${`1,a,${"|".repeat(1_900_000)}\n`.repeat(5)}`],
    ["csv", "9 problems", `petId,name,quantity\n${`1,a,"1${",000".repeat(490_000)}"\n`.repeat(5)}`],
    ["csv", "has more than 1000 columns", `petId,name\n${`${tags("", 1_990_000)}\n`.repeat(5)}`],
    ["csv", "10000 problems in", `petId,name\n${"1,a\n".repeat(2_400_000)}`],
    ["json", "of which the rest was not checked", `[${tags("", 9_900_000)}]`],
    ["csv", "100000 created", `petId,name,category,tags,quantity,barcode\n${real.join("")}`],
    ["ndjson", "has more than 10000 values", row(tags("1", 900_000))],
    ["ndjson", "has more than 10000 values", row(tags("[]", 600_000))],
    [
      "json",
      "has more than 10000 values",
      `[${row(tags("{}", 600_000)).trim().replaceAll("\n", ",")}]`,
    ],
  ];
  for (const [format, said, file] of attacks) {
    const run = await importOf(file, format);
    expect(run.said).toContain(said);
    expect(run.mebibytes - idle).toBeLessThan(64);
  }
}, 300_000);

test("a text in an object of many characters is no value of its own", async () => {
  const texts = numbers(90).map((at) => JSON.stringify(`${at} ${'a,"\\,'.repeat(150)}`));
  const row = `{"petId":1,"name":"a","tags":[${texts}],"photoUrls":[${texts}]}`;
  expect((await importOf(`${row}\n`, "ndjson")).said).toContain("1 created");
});

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
