import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { openWorkspace } from "../support/process.ts";
import { call, startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { setUnit } from "../support/units.ts";
import { expectUsageError } from "../support/usage-errors.ts";
import { openStoreWorkspace, type StoreWorkspace } from "../support/workspaces.ts";

const largest = "9223372036854775807";
/** Replaces times, which differ in every run. */
const withoutTimes = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");

for (const engine of [surfaceEngine]) {
  // What does not depend on the engine runs on one.
  describe(`on ${engine}`, () => {
    let place: StoreWorkspace;
    let service: TestService;
    let key: string;
    let keyId: string;
    beforeAll(async () => {
      place = await openStoreWorkspace(engine);
      ({ key, id: keyId } = await place.createKey("Till 1"));
      await place.importPets(
        '{"petId":1,"name":"Rex","quantity":3}',
        `{"petId":${largest},"name":"Luna","status":"sold"}`,
        '{"petId":-5,"name":"Coco","quantity":120}',
      );
      service = await startTestService(engine, { database: place.database });
      for (const quantity of [4, 12]) {
        const body = JSON.stringify({ quantity });
        const { status } = await call(service.baseUrl, "PATCH", "/inventory/1", { key, body });
        expect(status).toBe(200);
      }
    });
    afterAll(async () => {
      await service.stop();
      await place.leave();
    });

    test("history shows the changes of a pet, the newest first", async () => {
      const { code, out, err } = await place.runHere(["history", "1"]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(withoutTimes(out)).toBe(
        `seq  before            after            cause   at                        key     reason
  5       4 available     12 available  api     TIME  Till 1
  4       3 available      4 available  api     TIME  Till 1
  2       -                3 available  import  TIME  -       import of -
`,
      );
    });

    test("ledger shows all changes, the oldest first, with exact ids", async () => {
      const { out } = await place.runHere(["ledger"]);
      expect(withoutTimes(out)).toBe(
        `seq                petId  before            after            cause   at                        key     reason
  1                   -5       -              120 available  import  TIME  -       import of -
  2                    1       -                3 available  import  TIME  -       import of -
  3  ${largest}       -                0 sold       import  TIME  -       import of -
  4                    1       3 available      4 available  api     TIME  Till 1
  5                    1       4 available     12 available  api     TIME  Till 1
`,
      );
    });

    test("--json prints the rows of the API, one per line", async () => {
      const asArray = (out: string) => `[${out.trimEnd().split("\n").join()}]`;
      const changes = await call(service.baseUrl, "GET", "/changes", { key });
      expect(asArray((await place.runHere(["ledger", "--json"])).out)).toBe(changes.text);
      for (const pet of ["1", "-5", largest]) {
        const history = await call(service.baseUrl, "GET", `/inventory/${pet}/history`, { key });
        expect(asArray((await place.runHere(["history", pet, "--json"])).out)).toBe(history.text);
      }
      expect(await place.rows("history", "1", "--limit", "1")).toMatchObject([
        { seq: 5, petId: 1, before: { quantity: 4, status: "available" }, cause: "api", keyId },
      ]);
    });

    if (engine === "sqlite")
      test("--limit, --before and --after select rows", async () => {
        const seqs = async (...words: string[]) =>
          (await place.rows<{ seq: number }>(...words)).map(({ seq }) => seq);
        expect(await seqs("history", "1", "--limit", "2")).toEqual([5, 4]);
        expect(await seqs("history", "1", "--before", "5")).toEqual([4, 2]);
        expect(await seqs("history", "1", "--before", "4", "--limit=9007199254740991")).toEqual([
          2,
        ]);
        expect(await seqs("history", "1", "--before", "1")).toEqual([]);
        expect(await seqs("ledger", "--after", "3")).toEqual([4, 5]);
        expect(await seqs("ledger", "--after", "0")).toEqual([1, 2, 3, 4, 5]);
        expect(await seqs("ledger", "--after", "9007199254740991")).toEqual([]);
      });

    if (engine === "sqlite")
      test("a negative pet id is an operand, also after --", async () => {
        const shown = await place.runHere(["history", "-5"]);
        expect(shown.out).toContain("120 available");
        expect(await place.runHere(["history", "--", "-5"])).toEqual(shown);
        expectUsageError(await place.runHere(["history", "-5", "-6"]), "unexpected operand '-6'");
      });

    if (engine === "sqlite")
      test("an unknown pet and invalid numbers are rejected with one line", async () => {
        for (const [words, sentence] of [
          [["history", "77"], "no pet with this petId is in the store"],
          [["history", "1e3"], "PET must be a 64-bit integer, not '1e3'"],
          [["history", "9223372036854775808"], "PET must be a 64-bit integer"],
          [["history", "007"], "PET must be a 64-bit integer"],
          [["history", ""], "PET must be a 64-bit integer, not ''"],
          [["history", "\x1b[2J"], "PET must be a 64-bit integer, not '\\u001b[2J'"],
          [["history"], "PET is required; usage: petstore history PET"],
          [["history", "1", "--limit", "0"], "--limit must be an integer from 1 to"],
          [["history", "1", "--before", "0"], "--before must be an integer from 1 to"],
          [["history", "1", "--limit", "ten"], "--limit must be an integer from 1 to"],
          [["ledger", "--after=-1"], "--after must be an integer from 0 to 9007199254740991"],
          [["ledger", "--after", "1e3"], "--after must be an integer from 0 to"],
          [["ledger", "--after", "9007199254740992"], "--after must be an integer from 0 to"],
          [["ledger", "--after", ""], "--after must be an integer from 0 to"],
          [["ledger", "5"], "unexpected operand '5'"],
        ] as const) {
          expectUsageError(await place.runHere(words), sentence);
        }
      });

    if (engine === "sqlite")
      test("the commands work without a service too", async () => {
        const before = await place.runHere(["history", "1"]);
        await service.stop();
        expect(await place.runHere(["history", "1"])).toEqual(before);
      });

    if (engine === "sqlite")
      test("a terminal shows reasons in its width, without control characters", async () => {
        const reason = `\x1b[2J\u202e${"stock take ".repeat(20)}日本`;
        await place.withStore((store) =>
          store.inventory.commit([
            setUnit(-5n, 7, { reason }),
            setUnit(-5n, 8, { reason: "日本".repeat(50) }),
          ]),
        );
        const words = ["history", "-5", "--limit", "2"];
        const shown = await place.runOnTerminal(120, ...words);
        const [, cut, escaped] = shown.split("\n");
        expect(escaped).toHaveLength(120);
        expect(escaped).toContain("\\u001b[2J\\u202estock take");
        expect(escaped).toEndWith("…");
        // Each of these characters takes two cells.
        expect(cut).toMatch(/ {2}(?:日本)+日?…$/);
        expect(cut!.length + cut!.match(/[日本]/g)!.length).toBeOneOf([119, 120]);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters under test
        expect(shown).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
        const piped = await place.runHere(words);
        expect(piped.out).toContain(`\\u001b[2J\\u202e${"stock take ".repeat(20)}日本\n`);
        const [, row] = await place.rows<{ reason: string }>(...words);
        expect(row!.reason).toBe(reason);
      });
  });
}

test("commands that need content do not create a store", async () => {
  const place = openWorkspace();
  try {
    for (const words of [
      ["history", "1"],
      ["ledger"],
      ["ledger", "--follow"],
      ["snapshot", "1"],
      ["diff", "1", "2"],
      ["undo", "1"],
    ]) {
      const sentence = `there is no store at ${place.path("data/production.db")}; check --database`;
      expectUsageError(await place.runHere(words), sentence);
    }
    expect(existsSync(place.path("data"))).toBe(false);
  } finally {
    await place.leave();
  }
});
