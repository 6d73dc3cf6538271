import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openWorkspace } from "../support/process.ts";
import { createStore } from "../support/stocking.ts";

const place = openWorkspace();
beforeAll(() => createStore(`sqlite:${place.path("data/production.db")}`));
afterAll(() => place.leave());

const importing = (what: string, format: string, stdin: string) =>
  place.runHere([what, "import", "-", "--format", format], { stdin });
const exported = async (what: string, format: string) =>
  (await place.runHere([what, "export", "-", "--format", format])).out;

const rule = "must be a 64-bit integer, written with digits only and without leading zeros";
const advice =
  "; a spreadsheet program may have changed and rounded it: take the values from the original file, " +
  "and choose the type Text for this column when you open it";

/** A file of each format with this id, also as a text, and for each column that has an id. */
const filesWith = (id: string): [what: string, format: string, text: string][] => [
  ["pets", "csv", `name,petId\nRex,"${id}"\n`],
  ["pets", "csv", `name,petId\nRex,"=""${id}"""\n`],
  ["pets", "json", `[{"name":"Rex","petId":${id}}]`],
  ["pets", "ndjson", `{"name":"Rex","petId":${id}}\n`],
  ["pets", "ndjson", `{"name":"Rex","petId":"${id}"}\n`],
  ["orders", "csv", `id,petId,quantity,status\n"${id}",1,1,placed\n`],
  ["orders", "csv", `id,petId,quantity,status\n1,"${id}",1,placed\n`],
  ["orders", "json", `[{"id":${id},"petId":1,"quantity":1,"status":"placed"}]`],
  ["orders", "ndjson", `{"id":1,"petId":${id},"quantity":1,"status":"placed"}\n`],
];

describe("an id in a file has the one form that it has in a path", () => {
  const rounded = ["9.00719925474099E+015", "9.00719925474099e15", "1e3", "12.0", "12e0"];
  test.each(rounded)("%s is refused, with what a spreadsheet program does", async (id) => {
    for (const [what, format, text] of filesWith(id)) {
      const { code, err } = await importing(what, format, text);
      expect([code, err]).toEqual([2, expect.stringContaining(`d '${id}' ${rule}${advice}\n`)]);
    }
    expect([await exported("pets", "ndjson"), await exported("orders", "ndjson")]).toEqual([
      "",
      "",
    ]);
  });

  test("a rounded id with a decimal comma is refused in the same way", async () => {
    const id = "9,00719925474099E+15";
    const { err } = await importing("pets", "csv", `petId,name\n"${id}",Rex\n`);
    expect(err).toContain(`petId '${id}' ${rule}${advice}\n`);
  });

  test.each(["-0", "007", "-007", "+7", "9223372036854775808", "0x10", "1_000", "7n"])(
    "%s is refused",
    async (id) => {
      const { code, err } = await importing("pets", "csv", `petId,name\n${id},Rex\n`);
      expect([code, err]).toEqual([2, expect.stringContaining(`petId '${id}' ${rule}\n`)]);
      expect(await exported("pets", "ndjson")).toBe("");
    },
  );
});

describe("an exported CSV file", () => {
  const ids = ["-9223372036854775808", "-999999999999999", "7", "999999999999999"];
  const long = ["1000000000000000", "9007199254740993"];
  const pets = [...ids, ...long].map((id) => `{"petId":${id},"name":"Rex"}`).join("\n");
  const orders = long.map((id) => `{"id":${id},"petId":-${id},"quantity":1,"status":"placed"}`);
  beforeAll(async () => {
    expect((await importing("pets", "ndjson", pets)).code).toBe(0);
    expect((await importing("orders", "ndjson", orders.join("\n"))).code).toBe(0);
  });

  test("marks ids of more than 15 digits as text, and an import reads them again", async () => {
    const csv = await exported("pets", "csv");
    expect(csv.split("\n").map((line) => line.split(",")[0])).toEqual([
      "petId",
      '"=""-9223372036854775808"""',
      "-999999999999999",
      "7",
      "999999999999999",
      '"=""1000000000000000"""',
      '"=""9007199254740993"""',
      "",
    ]);
    expect((await importing("pets", "csv", csv)).out).toContain("0 created, 0 changed, 6 unch");
    const ordersCsv = await exported("orders", "csv");
    expect(ordersCsv).toContain('"=""9007199254740993""","=""-9007199254740993""",1,');
    expect((await importing("orders", "csv", ordersCsv)).out).toContain("0 created, 0 changed, 2");
  });

  /** What LibreOffice 7.4 wrote after it had opened such files, with different settings. */
  test.each([
    ["saved again", '"petId","name"\n"-9223372036854775808","Rex"\n"9007199254740993","Rex"\n'],
    ["saved without quotes", "petId,name\n-9223372036854775808,Rex\n9007199254740993,Rex\n"],
    ["opened without formulas", '"petId","name"\n"=""9007199254740993""","Rex"\n7,"Rex"\n'],
  ])("keeps its ids in a spreadsheet program: %s", async (_, csv) => {
    expect((await importing("pets", "csv", csv)).out).toContain("0 created, 0 changed, 2 unch");
  });
});
