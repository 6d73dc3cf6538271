import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { petRows } from "../../src/domain/catalogue/imports.ts";
import { parseJson } from "../../src/domain/values/json.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { call, startTestService } from "../support/service.ts";
import { createStore } from "../support/stocking.ts";

let place: Workspace;
beforeEach(async () => {
  place = openWorkspace();
  await createStore(`sqlite:${place.path("data/production.db")}`);
});
afterEach(() => place.leave());

const importing = (stdin: string | Uint8Array, format: string) =>
  place.runHere(["pets", "import", "-", "--format", format], { stdin });
const catalogue = async () => (await place.runHere(["pets", "export", "-"])).out;

/** Pets that test every format: the limits of the id range, and every special character. */
const awkward = [
  '{"petId":-9223372036854775808,"name":"First","category":null,"tags":[],"photoUrls":[],"status":"available","quantity":0}',
  '{"petId":0,"name":" spaced ","category":"a,b","tags":["x|y","z"],"photoUrls":["[odd"],"status":"sold","quantity":7}',
  '{"petId":9007199254740993,"name":"line\\nend \\"quoted\\"","category":"é🐕","tags":["[1]"],"photoUrls":["https://example.test/?a=1,2"],"status":"pending","quantity":9007199254740991}',
  '{"petId":9223372036854775807,"name":"\\\\ \\r back","category":"","tags":["plain","two"],"photoUrls":[],"status":"available","quantity":1}',
]
  .join("\n")
  .replace('"category":""', '"category":"="')
  .concat("\n");

/** Each line of a text as JSON, with all digits of its numbers. */
const jsonLines = (text: string) => text.trim().split("\n").map(parseJson) as object[];

test("a file of a spreadsheet program is imported with mapped headers", async () => {
  const bytes = Buffer.from(
    "Artikel;Name (neu=alt);Bestand;Preis\r\n7;Gr\xF6\xDFe;1.234;9,95\r\n",
    "latin1",
  );
  writeFileSync(place.path("liste.csv"), bytes);
  const maps = ["Artikel=petId", "Name (neu=alt)=name", "Bestand=quantity", "Preis=ignore"];
  const words = ["pets", "import", "liste.csv", ...maps.flatMap((map) => ["--map", map])];
  const dry = await place.runHere([...words, "--dry-run"]);
  expect(dry.out).toContain("name      -     Größe");
  expect((await place.runHere(words)).out).toContain("1 created");
  expect(jsonLines(await catalogue())).toMatchObject(
    jsonLines('{"petId":7,"name":"Größe","quantity":1234}'),
  );
  const wrong = await place.runHere([...words, "--delimiter", ","]);
  expect(wrong.err).toContain("liste.csv:1: unknown column 'Artikel;Name (neu=alt);Bestand;Preis'");
  for (const [flags, message] of [
    [["--map", "Artikel"], "--map must be HEADER=FIELD, with a field of petId, name,"],
    [["--map", "Artikel=price"], "or ignore, not 'Artikel=price'"],
    [["--delimiter", "|"], "--delimiter must be one of comma, semicolon, tab, not '|'"],
  ] as const) {
    const ran = await place.runHere(["pets", "import", "liste.csv", ...flags]);
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining(message)]);
  }
});

describe("an exported catalogue that is imported into another store is identical", () => {
  for (const format of ["csv", "ndjson", "json"]) {
    test(`as a .${format} file and through a pipe`, async () => {
      expect((await importing(awkward, "ndjson")).code).toBe(0);
      const imported = await catalogue();
      expect(jsonLines(imported)).toMatchObject(jsonLines(awkward));
      expect((await place.runHere(["pets", "export", `pets.${format}`])).code).toBe(0);
      const file = readFileSync(place.path(`pets.${format}`), "utf8");
      expect((await place.runHere(["pets", "export", "-", "--format", format])).out).toBe(file);

      const elsewhere = ["--database", "sqlite:./elsewhere.db"];
      const counts = await place.json("pets", "import", `pets.${format}`, ...elsewhere);
      expect(counts).toEqual({ created: 4, changed: 0, unchanged: 0 });
      expect((await place.runHere(["pets", "export", "-", ...elsewhere])).out).toBe(imported);
      const again = await importing(file, format);
      expect(again.out).toBe("Imported pets: 0 created, 0 changed, 4 unchanged.\n");
    });
  }

  test("also if it is empty", async () => {
    for (const [format, text] of [
      ["csv", `${Object.keys(petRows.columns).join()}\n`],
      ["ndjson", ""],
      ["json", "[]\n"],
    ] as const) {
      expect((await place.runHere(["pets", "export", "-", "--format", format])).out).toBe(text);
      expect((await importing(text, format)).code).toBe(0);
    }
  });
});

describe("an import accepts a file with", () => {
  const cases: [name: string, format: string, text: string][] = [
    ["a byte order mark", "csv", "\uFEFFpetId,name\n1,Rex\n"],
    ["a byte order mark before JSON", "json", '\uFEFF[{"petId":1,"name":"Rex"}]'],
    ["CRLF line ends", "csv", "petId,name\r\n1,Rex\r\n"],
    ["CRLF line ends in JSON lines", "ndjson", '{"petId":1,"name":"Rex"}\r\n\r\n'],
    ["blank lines and no last line end", "csv", "\n petId , name \n\n  \n1,Rex"],
    ["a number written another way", "csv", "petId,name,quantity\n 1 ,Rex,0e5\n"],
    ["an array over many lines", "json", '\n[\n{\n"petId"\n:1,\n"name":"Rex"\n}\n]\n\n'],
  ];
  for (const [name, format, text] of cases) {
    test(name, async () => {
      expect(await importing(text, format)).toMatchObject({ code: 0, err: "" });
      expect(await catalogue()).toStartWith('{"petId":1,"name":"Rex"');
    });
  }
});

test("a pipe is imported into a new store, and a file without rows is noted", async () => {
  const database = ["--database", "sqlite:./fresh.db"];
  const stdin = 'petId,name\n1,"Rex\n"\n';
  const ran = await place.runHere(["pets", "import", "-", "--format", "csv", ...database], {
    stdin,
  });
  expect(ran).toEqual({
    code: 0,
    out: "Imported pets: 1 created, 0 changed, 0 unchanged.\n",
    err: `petstore: created the store ${place.path("fresh.db")}\n`,
  });
  const empty = await place.runHere(["orders", "import", "-", ...database]);
  expect(empty).toMatchObject({
    code: 0,
    err: "petstore: stdin has no rows; nothing was imported\n",
  });
});

test("an import records the name of its file, and nowhere its folders", async () => {
  const own = openWorkspace();
  mkdirSync(own.path("private/anna"), { recursive: true });
  writeFileSync(own.path("private/anna/pets.csv"), "petId,name\n1,Rex\n");
  writeFileSync(own.path("private/anna/orders.csv"), "id,petId,quantity,status\n1,1,2,placed\n");
  const run = async (...words: string[]) => {
    const ran = await own.runHere(words);
    expect(ran.code).toBe(0);
    return ran.out;
  };
  await run("pets", "import", own.path("private/anna/pets.csv"));
  await run("orders", "import", "./private/anna/orders.csv");
  const [rows, entries] = [await run("ledger", "--json"), await run("audit", "--json")];
  expect(rows).toContain('"import of pets.csv"');
  expect(entries).toContain('"import of pets.csv"');
  expect(entries).toContain('"import of orders.csv"');
  expect(rows + entries).not.toContain("anna");
  await own.leave();
});

test("a running service returns imported pets and orders on the next request", async () => {
  const database = `sqlite:${place.path("data/production.db")}`;
  const service = await startTestService("sqlite", { database });
  const { key } = await place.json<{ key: string }>(
    "keys",
    "create",
    "--name",
    "a",
    "--plan",
    "pro",
  );
  await importing('{"petId":9223372036854775807,"name":"Last","quantity":4}', "ndjson");
  const list = await call(service.baseUrl, "GET", "/inventory", { key });
  expect(list.text).toBe('[{"petId":9223372036854775807,"quantity":4,"status":"available"}]');
  writeFileSync(
    place.path("orders.csv"),
    "id,petId,quantity,shipDate,status,complete\n9007199254740993,7,2,2026-05-01,approved,\n",
  );
  expect(await place.json("orders", "import", "orders.csv")).toMatchObject({ created: 1 });
  expect((await call(service.baseUrl, "GET", "/store/orders", { key })).text).toBe(
    '[{"id":9007199254740993,"petId":7,"quantity":2,"shipDate":"2026-05-01T00:00:00.000Z",' +
      '"status":"approved","complete":false}]',
  );
  expect(await place.runHere(["orders", "export", "copy.csv"])).toMatchObject({ code: 0 });
  expect(readFileSync(place.path("copy.csv"), "utf8")).toContain(
    '"=""9007199254740993""",7,2,2026-05-01T',
  );
  await service.stop();
});
