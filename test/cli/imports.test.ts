import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expectUsageError, openWorkspace, type Workspace } from "../support/process.ts";
import { call } from "../support/service.ts";
import { createStore } from "../support/stocking.ts";

let place: Workspace;
beforeEach(async () => {
  place = openWorkspace();
  await createStore(`sqlite:${place.path("data/production.db")}`);
});
afterEach(() => place.leave());

const importing = (stdin: string | Uint8Array, format: string) =>
  place.run(["pets", "import", "-", "--format", format], { stdin });
const catalogue = async () => (await place.run(["pets", "export", "-"])).out;

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

describe("an exported catalogue that is imported into another store is identical", () => {
  for (const format of ["csv", "ndjson", "json"]) {
    test(`as a .${format} file and through a pipe`, async () => {
      expect((await importing(awkward, "ndjson")).code).toBe(0);
      expect(await catalogue()).toBe(awkward);
      expect((await place.run(["pets", "export", `pets.${format}`])).code).toBe(0);
      const file = readFileSync(place.path(`pets.${format}`), "utf8");
      expect((await place.run(["pets", "export", "-", "--format", format])).out).toBe(file);

      const elsewhere = ["--database", "sqlite:./elsewhere.db"];
      const imported = await place.json("pets", "import", `pets.${format}`, ...elsewhere);
      expect(imported).toEqual({ created: 4, changed: 0, unchanged: 0 });
      expect((await place.run(["pets", "export", "-", ...elsewhere])).out).toBe(awkward);
      const again = await importing(file, format);
      expect(again.out).toBe("Imported pets: 0 created, 0 changed, 4 unchanged.\n");
    });
  }

  test("also if it is empty", async () => {
    for (const [format, text] of [
      ["csv", "petId,name,category,tags,photoUrls,status,quantity\n"],
      ["ndjson", ""],
      ["json", "[]\n"],
    ] as const) {
      expect((await place.run(["pets", "export", "-", "--format", format])).out).toBe(text);
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
    ["a number written another way", "csv", "petId,name,quantity\n 1.0 ,Rex,0e5\n"],
    ["an array over many lines", "json", '\n[\n{\n"petId"\n:1,\n"name":"Rex"\n}\n]\n\n'],
  ];
  for (const [name, format, text] of cases) {
    test(name, async () => {
      expect(await importing(text, format)).toMatchObject({ code: 0, err: "" });
      expect(await catalogue()).toStartWith('{"petId":1,"name":"Rex"');
    });
  }
});

describe("an invalid file is rejected with its line, field and rule, and nothing changes", () => {
  const good = '{"petId":5,"name":"Good"}\n';
  const cases: [format: string, text: string | Uint8Array, sentence: string][] = [
    ["ndjson", `${good}{"petId":6}\n`, "line 2: field 'name' is required for a new pet (petId 6)"],
    ["ndjson", `${good}{"name":"x"}`, "line 2: field 'petId' is required"],
    ["ndjson", `${good}\n{"petId":5,"name":"b"}`, "line 3: duplicate petId 5"],
    ["ndjson", `${good}{"petId":"6","name":"b"}`, "line 2: field 'petId' must be a 64-bit integer"],
    ["ndjson", `${good}{"petId":9223372036854775808,"name":"b"}`, "line 2: field 'petId' must be"],
    ["ndjson", `${good}{"petId":6.5,"name":"b"}`, "line 2: field 'petId' must be a 64-bit integer"],
    ["ndjson", `${good}{"petId":6,"name":""}`, "line 2: field 'name' must be a text of 1 to 1000"],
    ["ndjson", `${good}{"petId":6,"name":null}`, "line 2: field 'name' must be a text"],
    ["ndjson", `${good}{"petId":6,"name":"a\\u0000"}`, "line 2: field 'name' must be a text"],
    ["ndjson", `${good}{"petId":6,"name":"a","quantity":-1}`, "line 2: field 'quantity' must be"],
    ["ndjson", `${good}{"petId":6,"name":"a","quantity":1e16}`, "line 2: field 'quantity' must be"],
    ["ndjson", `${good}{"petId":6,"name":"a","status":"gone"}`, "line 2: field 'status' must be"],
    ["ndjson", `${good}{"petId":6,"name":"a","tags":[1]}`, "line 2: field 'tags' must be a list"],
    ["ndjson", `${good}{"petId":6,"name":"a","tags":{}}`, "line 2: field 'tags' must be a list"],
    ["ndjson", `${good}{"petId":6,"name":{"first":"a"}}`, "line 2: field 'name' must be a text"],
    ["ndjson", `${good}{"petId":6,"name":"a","color":1}`, "line 2: field 'color' is not one of"],
    ["ndjson", `${good}{"petId":6,"name":"a","__proto__":1}`, "line 2: field '__proto__' is not"],
    ["ndjson", `${good}[1]`, "line 2: expected a JSON object"],
    ["ndjson", `${good}{"petId":6,`, "line 2: invalid JSON"],
    ["ndjson", `${good}${"[".repeat(200_000)}`, "line 2: invalid JSON"],
    ["ndjson", good + " ".repeat(3_000_000), "line 2: the row has more than 2000000 characters"],
    ["json", '[{"petId":5,"name":"Good"},\n]', "line 2: invalid JSON"],
    [
      "json",
      '[{"petId":5,"name":"Good"},\n\n{"petId"',
      "line 3: the file ends inside the JSON array",
    ],
    ["json", '[{"petId":5,"name":"Good"}]\n[]', "line 2: expected one JSON array"],
    ["json", '{"petId":5,"name":"Good"}', "line 1: expected one JSON array of objects"],
    ["json", '[[{"petId":5,"name":"Good"}]]', "line 1: expected a JSON object"],
    ["json", '[{"petId":5,"name":"Good"}}', "line 1: expected one JSON array"],
    ["json", "", "line 1: expected one JSON array of objects"],
    ["csv", "petId,name\n5,Good\n6\n", "line 3: expected 2 cells, found 1"],
    ["csv", 'petId,name\n5,Good\n6,"open\n7,b\n', "line 3: unclosed quote"],
    ["csv", 'petId,name\n5,Good\n6,5" pipe\n', "line 3: unexpected quote"],
    ["csv", "petId,name,quantity\n5,Good,1\n6,b,few\n", "line 3: field 'quantity' must be"],
    ["csv", "petId,name,quantity\n5,Good,1\n6,b,+3\n", "line 3: field 'quantity' must be"],
    ["csv", "petId,nickname\n5,Good\n", "line 1: unknown column 'nickname'; expected petId, name"],
    ["csv", "petId,name,petId\n5,Good,5\n", "line 1: duplicate column 'petId'"],
    ["csv", Buffer.from("petId,name\n5,G\xFFod\n", "latin1"), "stdin is not valid UTF-8"],
    ["csv", gzipSync("petId,name\n5,Good\n"), "stdin is not valid UTF-8"],
    ["csv", Buffer.from("petId,name\n5,Goo\xC3", "latin1"), "stdin is not valid UTF-8"],
  ];
  let shared: Workspace;
  let watcher: Database;
  beforeAll(async () => {
    shared = openWorkspace();
    await shared.run(["pets", "import", "-"], { stdin: '{"petId":5,"name":"Kept"}' });
    watcher = new Database(shared.path("data/production.db"), { readonly: true });
  });
  afterAll(async () => {
    watcher.close();
    await shared.leave();
  });

  for (const [format, text, sentence] of cases) {
    test(`${format}: ${sentence}`, async () => {
      // This number changes if another connection commits.
      const before = watcher.query("PRAGMA data_version").get();
      const words = ["pets", "import", "-", "--format", format];
      expectUsageError(await shared.run(words, { stdin: text }), sentence);
      expect(watcher.query("PRAGMA data_version").get()).toEqual(before);
    });
  }

  test("orders have different columns and rules", async () => {
    const run = (stdin: string) =>
      place.run(["orders", "import", "-", "--format", "csv"], { stdin });
    const header = "id,petId,quantity,shipDate,status,complete\n";
    for (const date of ["2026-02-30", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:00-00:01"]) {
      expectUsageError(
        await run(`${header}1,1,1,${date},placed,true\n`),
        "field 'shipDate' must be",
      );
    }
    expectUsageError(
      await run(`${header}1,1,1,,sold,true\n`),
      "line 2: field 'status' must be one of",
    );
    expectUsageError(await run(`${header}1,1,1,,placed,yes\n`), "line 2: field 'complete' must be");
    expectUsageError(
      await run(`${header}1,1,,,placed,true\n`),
      "line 2: field 'quantity' is required",
    );
    expectUsageError(
      await run("petId,name\n1,Rex\n"),
      "line 1: unknown column 'name'; expected id, petId",
    );
  });
});

test("a running service returns imported pets and orders on the next request", async () => {
  const service = await place.serve();
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
});
