import { describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { problemLine } from "../../src/cli/imports/report.ts";
import { readConfig } from "../../src/config.ts";
import { type ImportKind, orders, pets } from "../../src/domain/catalogue/import-kinds.ts";
import { createProblems } from "../../src/domain/catalogue/import-problems.ts";
import { orderRows } from "../../src/domain/catalogue/imports.ts";
import type { ImportFormat } from "../../src/files/formats.ts";
import { readRecords } from "../../src/files/rows.ts";
import { withEmptyStore } from "../../src/opening/stores.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { openWorkspace } from "../support/process.ts";
import { engines, startTestService, surfaceEngine } from "../support/service.ts";
import { openStoreWorkspace } from "../support/workspaces.ts";

const latin = (text: string) => Buffer.from(text, "latin1");

/** Checks a file as an import into an empty store does, in chunks of this size. */
async function problemsIn<T>(
  kind: ImportKind<T>,
  format: ImportFormat,
  text: string | Uint8Array,
  size = 65_536,
): Promise<{ count: number; list: string[] }> {
  const bytes = Buffer.from(text as Uint8Array);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const problems = createProblems();
  const records = readRecords(chunks(), format, kind.rows, problems);
  const checked = withEmptyStore(readConfig({}, {}), (preview) =>
    kind.preview(preview, records, problems, async () => {}),
  );
  await expect(checked).rejects.toThrow("line ");
  const list = problems.list().map((problem) => `${problem.line}: ${problemLine(problem)}`);
  return { count: problems.count(), list };
}

describe("an invalid row is a problem with its line, column, value and rule", () => {
  const good = '{"petId":5,"name":"Good"}\n';
  const integer = "must be an integer from 0 to 9007199254740991";
  const cases: [format: ImportFormat, text: string | Uint8Array, problem: string][] = [
    ["ndjson", `${good}{"petId":6}\n`, "2: name is required for a new pet (petId 6)"],
    ["ndjson", `${good}{"name":"x"}`, "2: petId is required"],
    [
      "ndjson",
      `${good}\n{"petId":5,"name":"b"}`,
      "3: petId '5' must be unique, but line 1 has it too",
    ],
    ["ndjson", `${good}{"petId":"6x","name":"b"}`, "2: petId '6x' must be a 64-bit integer"],
    ["ndjson", `${good}{"petId":9223372036854775808,"name":"b"}`, "2: petId '9223372036854775808'"],
    ["ndjson", `${good}{"petId":6.5,"name":"b"}`, "2: petId '6.5' must be a 64-bit integer"],
    ["ndjson", `${good}{"petId":6,"name":""}`, "2: name '' must be a text of 1 to 1000 characters"],
    ["ndjson", `${good}{"petId":6,"name":null}`, "2: name 'null' must be a text"],
    ["ndjson", `${good}{"petId":6,"name":"a\\u0000"}`, "2: name 'a\0' must be a text"],
    ["ndjson", `${good}{"petId":6,"name":"a","quantity":-1}`, `2: quantity '-1' ${integer}`],
    ["ndjson", `${good}{"petId":6,"name":"a","quantity":1e16}`, `2: quantity '1e16' ${integer}`],
    ["ndjson", `${good}{"petId":6,"name":"a","status":"gone"}`, "2: status 'gone' must be one of"],
    ["ndjson", `${good}{"petId":6,"name":"a","tags":[1]}`, "2: tags '[1]' must be a list"],
    ["ndjson", `${good}{"petId":6,"name":"a","tags":{}}`, "2: tags '{}' must be a list"],
    ["ndjson", `${good}{"petId":6,"name":{"first":"a"}}`, `2: name '{"first":"a"}' must be a text`],
    ["ndjson", `${good}{"petId":6,"name":"a","color":1}`, "2: color '1' is not one of petId, name"],
    ["ndjson", `${good}{"petId":6,"name":"a","__proto__":1}`, "2: __proto__ '1' is not one of"],
    [
      "ndjson",
      `${good}{"petId":6,"name":"${"x".repeat(1001)}"}`,
      `2: name '${"x".repeat(59)}…' must`,
    ],
    ["ndjson", `${good}[1]`, "2: '[1]' is not a JSON object"],
    ["ndjson", `${good}{"petId":6,`, "2: '{\"petId\":6,' is not valid JSON"],
    ["ndjson", `${good}${"[".repeat(9_000)}`, "is not valid JSON"],
    ["ndjson", `${good}${"[".repeat(200_000)}`, "has more than 10000 values"],
    ["ndjson", good + " ".repeat(3_000_000), "2: the row has more than 2000000 characters"],
    ["json", '[{"petId":5,"name":"Good"},\n]', "2: '' is not valid JSON"],
    ["json", '[{"petId":5,"name":"Good"},\n\n{"petId"', "3: the file ends inside the JSON array"],
    ["json", '[{"petId":5,"name":"Good"}]\n[]', "2: expected one JSON array"],
    ["json", '[[{"petId":5,"name":"Good"}]]', "is not a JSON object"],
    ["json", '[{"petId":5,"name":"Good"}}', "1: expected one JSON array"],
    ["csv", "petId,name\n5,Good\n6\n", "3: '6' has 1 cell, but the header has 2"],
    ["csv", 'petId,name\n5,Good\n6,"open\n7,b\n', "3: unclosed quote"],
    ["csv", 'petId,name\n5,Good\n6,5" pipe\n', "3: unexpected quote"],
    ["csv", "petId,name,quantity\n5,Good,1\n6,b,few\n", `3: quantity 'few' ${integer}`],
    ["csv", "petId,name,quantity\n5,Good,1\n6,b,+3\n", `3: quantity '+3' ${integer}`],
    ["csv", "petId,nickname\n5,Good\n", "1: unknown column 'nickname'; expected petId, name"],
    ["csv", "petId,nmae\n5,Good\n", "1: unknown column 'nmae'; did you mean name?"],
    ["csv", "petId,name,petId\n5,Good,5\n", "1: duplicate column 'petId'"],
    ["csv", latin("petId,name\n5,Go\xC3\xA4\n6,G\xE4d\n"), "3: the text is not UTF-8"],
    ["csv", latin("\xEF\xBB\xBFpetId,name\n6,G\xE4d\n"), "2: the text is not UTF-8"],
    [
      "ndjson",
      latin(`${good}{"petId":6,"name":"G\xE4d"}\n`),
      "2: the text is not UTF-8, perhaps Latin",
    ],
    ["csv", "petId,name,quantity\n5,Good,1.000\n", "2: quantity '1.000' must be an integer"],
    ["csv", 'petId,name,quantity\n5,Good,"1,000"\n', "it can mean a fraction or thousands"],
    ["csv", "petId;name;quantity\n5;Good;1,000\n", "it can mean a fraction or thousands"],
    ["csv", "petId;name;quantity\n5;Good;3,5\n", "2: quantity '3.5' must be an integer"],
    ["csv", `petId${",".repeat(1_000)}\n5\n`, "1: has more than 1000 columns"],
    ["csv", `petId,name\n5,a\n${",".repeat(1_000)}\n`, "…' has more than 1000 columns"],
    ["csv", 'petId,"name\n5,Good\n', "1: unclosed quote"],
    ["csv", 'petId,na"me\n5,Good\n', "1: unexpected quote"],
    ["csv", "petId;name;\n5;Good;lost\n", "2:  'lost' is not one of petId, name"],
    ["csv", "petId;name\n9,00719925474099E+15;Good\n", "a spreadsheet program may have changed"],
  ];
  /** What to do, for files that are not in their format. */
  const hints: [format: ImportFormat, text: string | Uint8Array, hint: string][] = [
    ["csv", "", "1: the file is empty; its first line must be a header such as petId,name"],
    [
      "csv",
      "5,Good\n",
      "1: there is no header; the first line must be a header such as petId,name",
    ],
    ["csv", `\n${good}`, "2: the file has JSON objects, not CSV; use --format ndjson"],
    ["csv", `[${good}]`, "1: the file is a JSON array, not CSV; use --format json"],
    ["json", "", "1: the file is empty; it must have a JSON array, at least []"],
    ["json", good.trim(), "1: the file has an object, not a JSON array; put the objects between ["],
    ["json", good + good, "1: the file has one object per line, not a JSON array; use --format nd"],
    ["json", "petId,name\n5,Good\n", "1: the file is CSV, not a JSON array; use --format csv"],
    ["ndjson", `[${good}]`, "1: the file is a JSON array, not NDJSON; use --format json"],
    ["ndjson", '{\n"petId":5}', "1: an object takes several lines; write each object on one line"],
    ["ndjson", "petId,name\n5,Good\n", "1: the file is CSV, not NDJSON; use --format csv"],
    ["json", Buffer.from("\uFEFF[]", "utf16le"), "1: the file is in UTF-16; save it as UTF-8"],
    ["csv", Buffer.from("petId,name\n", "utf16le"), "1: the file is in UTF-16; save it as UTF-8"],
    [
      "csv",
      latin("PK\x03\x04"),
      "1: the file is a workbook or an archive, not a text; use --format xl",
    ],
    [
      "csv",
      latin("\xD0\xCF\x11\xE0"),
      "1: the file is a workbook of an old kind, or has a password",
    ],
    [
      "xlsx",
      "petId,name\n5,Good\n",
      "1: the file is not a workbook (.xlsx), is damaged, or has a password",
    ],
    ["csv", gzipSync("petId,name\n5,Good\n"), "1: the file is compressed; decompress it first"],
  ];
  for (const [format, text, problem] of [...cases, ...hints]) {
    test(`${format} ${problem.slice(0, 70)}`, async () => {
      // Twice: in one piece, and byte by byte.
      for (const size of [1_000_000, 1]) {
        if (size === 1 && text.length > 3_000) continue;
        const { count, list } = await problemsIn(pets, format, text, size);
        expect(list.join("\n")).toContain(problem);
        expect(count).toBe(1);
      }
    });
  }

  test("orders have different columns and rules", async () => {
    const header = "id,petId,quantity,shipDate,status,complete";
    const dates = ["2026-02-30", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:00-00:01"];
    const rows = dates.map((date, at) => `${at},1,1,${date},placed,true`);
    rows.push("7,1,1,,sold,true", "8,1,1,,placed,yes", "8,1,,,placed,true");
    const { list } = await problemsIn(orders, "csv", [header, ...rows].join("\n"));
    expect(list).toEqual([
      ...dates.map((date, at) => expect.stringContaining(`${at + 2}: shipDate '${date}' must be`)),
      "5: status 'sold' must be one of placed, approved, delivered",
      "6: complete 'yes' must be true or false",
      "7: quantity is required",
      "7: id '8' must be unique, but line 6 has it too",
    ]);
    const pet = await problemsIn(orders, "csv", "petId,name\n1,Rex\n");
    expect(pet.list).toEqual([
      `1: unknown column 'name'; expected ${Object.keys(orderRows.columns).join(", ")}`,
    ]);
  });

  test("all rows are checked, 50 are listed, and the rest is counted", async () => {
    const rows = Array.from({ length: 300 }, (_, at) => `{"petId":${at},"quantity":-1}`);
    const { count, list } = await problemsIn(pets, "ndjson", rows.join("\n"), 4_096);
    expect(count).toBe(300);
    expect(list).toEqual(rows.slice(0, 50).map((_, at) => `${at + 1}: quantity '-1' ${integer}`));
  });

  test("what comes before a place where rows cannot be told apart is checked too", async () => {
    const text = '[{"petId":1,"quantity":-1},\n{"petId":2,"name":5}}\n,{"petId":3}]';
    expect((await problemsIn(pets, "json", text)).list).toEqual([
      `1: quantity '-1' ${integer}`,
      "2: expected one JSON array of objects",
    ]);
  });
});

for (const engine of engines) {
  test(`${engine}: a bad file prints every problem, imports nothing and creates no store`, async () => {
    const postgres = engine === "postgres" ? await (await sharedPostgres()).freshDatabase() : "";
    const fresh = openWorkspace(postgres ? { DATABASE_URL: postgres } : {});
    try {
      const escaped = "\x1b[2J";
      const file = `petId,name,quantity\n1,Rex,3\n2,,few\n3,,4\n1,${escaped},${escaped}\n`;
      writeFileSync(fresh.path("pets.csv"), file);
      const ran = await fresh.runHere(["pets", "import", "pets.csv"]);
      const lines = [
        "pets.csv:3: quantity 'few' must be an integer from 0 to 9007199254740991",
        "pets.csv:4: name is required for a new pet (petId 3)",
        "pets.csv:5: quantity '\\u001b[2J' must be an integer from 0 to 9007199254740991",
        "pets.csv:5: petId '1' must be unique, but line 2 has it too",
        "petstore: 4 problems in pets.csv; nothing was imported",
      ];
      expect(ran).toEqual({ code: 2, out: "", err: `${lines.join("\n")}\n` });
      const json = await fresh.runHere(["pets", "import", "-", "--format", "csv", "--json"], {
        stdin: file,
      });
      expect(json.code).toBe(2);
      expect(json.err).toEndWith("nothing was imported\n");
      const { problemCount, problems } = JSON.parse(json.out);
      expect(problemCount).toBe(4);
      expect(problems[0]).toEqual({
        ...{ file: "stdin", line: 3, column: "quantity", value: "few" },
        rule: "must be an integer from 0 to 9007199254740991",
      });
      const dry = await fresh.runHere(["pets", "import", "pets.csv", "--dry-run", "--json"]);
      expect(JSON.parse(dry.out)).toMatchObject({ problemCount: 4 });
      expect((await fresh.runHere(["verify"])).err).toContain("there is no store");
      // The runtime keeps files of its own in the home folder.
      const names = readdirSync(fresh.folder).filter((name) => !name.startsWith("."));
      expect(names).toEqual(["pets.csv"]);
    } finally {
      await fresh.leave();
    }
  });
}

test(`${surfaceEngine}: a dry run beside a service shows what would change, and changes nothing`, async () => {
  const shop = await openStoreWorkspace(surfaceEngine);
  const service = await startTestService(surfaceEngine, { database: shop.database });
  try {
    await shop.importPets(
      '{"petId":1,"name":"Rex","quantity":3}',
      '{"petId":2,"name":"Luna","tags":["a"]}',
    );
    const before = await shop.withStore(async (store) => store.inventory.readHead());
    const file = "petId,name,tags,quantity\n1,Rex,,4\n2,Luna,a,0\n3,Max,b|c,\n";
    writeFileSync(shop.path("pets.csv"), file);
    const words = ["pets", "import", "pets.csv", "--dry-run"];
    expect((await shop.runHere(words)).out).toBe(
      [
        "petId  field     from  to",
        "    1  quantity  3     4",
        "    3  name      -     Max",
        '    3  tags      -     ["b","c"]',
        "Would import pets: 1 created, 1 changed, 1 unchanged. Nothing was changed.",
        "",
      ].join("\n"),
    );
    expect(JSON.parse((await shop.runHere([...words, "--json"])).out)).toEqual({
      dryRun: true,
      differences: [
        { petId: 1, field: "quantity", from: 3, to: 4 },
        { petId: 3, field: "name", from: null, to: "Max" },
        { petId: 3, field: "tags", from: null, to: ["b", "c"] },
      ],
      differenceCount: 3,
      columns: expect.arrayContaining([{ header: "quantity", field: "quantity" }]),
      ...{ created: 1, changed: 1, unchanged: 1 },
    });
    const few = [...words, "--differences", "2"];
    expect((await shop.runHere(few)).out).toContain("Max\n1 more differences\n");
    const { differences, differenceCount } = await shop.json(...few);
    expect([differences, differenceCount]).toMatchObject([{ length: 2 }, 3]);
    expect(await shop.json(...words, "--differences", "0")).toMatchObject({ differences: [] });
    expect(await shop.withStore(async (store) => store.inventory.readHead())).toEqual(before);
    const imported = await shop.json("pets", "import", "pets.csv");
    expect(imported).toEqual({ created: 1, changed: 1, unchanged: 1 });
  } finally {
    await service.stop();
    await shop.leave();
  }
});
