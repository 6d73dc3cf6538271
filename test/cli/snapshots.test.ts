import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestService, surfaceEngine } from "../support/service.ts";
import { expectUsageError } from "../support/usage-errors.ts";
import { openStoreWorkspace, type StoreWorkspace } from "../support/workspaces.ts";

const largest = "9223372036854775807";

for (const engine of [surfaceEngine]) {
  // What does not depend on the engine runs on one.
  describe(`on ${engine}`, () => {
    let place: StoreWorkspace;
    let times: string[];
    beforeAll(async () => {
      place = await openStoreWorkspace(engine);
      await place.importPets(
        '{"petId":-5,"name":"Coco","quantity":9007199254740991}',
        '{"petId":1,"name":"Rex","quantity":3}',
      );
      await place.importPets('{"petId":1,"quantity":12,"status":"pending"}');
      await place.importPets(`{"petId":${largest},"name":"Luna","status":"sold"}`);
      times = (await place.rows<{ at: string }>("ledger")).map(({ at }) => at);
    });
    afterAll(() => place.leave());

    test("snapshot shows the inventory after a row", async () => {
      expect(await place.runHere(["snapshot", "3"])).toEqual({
        code: 0,
        out: `petId          quantity  status
   -5  9007199254740991  available
    1                12  pending
`,
        err: "",
      });
      expect((await place.runHere(["snapshot", "4", "--json"])).out).toBe(
        `{"petId":-5,"quantity":9007199254740991,"status":"available"}
{"petId":1,"quantity":12,"status":"pending"}
{"petId":${largest},"quantity":0,"status":"sold"}
`,
      );
      expect((await place.runHere(["snapshot", "0"])).out).toBe("petId  quantity  status\n");
      expect((await place.runHere(["snapshot", "0", "--json"])).out).toBe("");
    });

    if (engine === "sqlite")
      test("snapshot shows the inventory at a time", async () => {
        const at = async (moment: string) => (await place.runHere(["snapshot", moment])).out;
        expect(await at(times[2]!)).toBe(await at("3"));
        expect(await at(times[1]!)).toBe(await at("2"));
        const justBefore = new Date(Date.parse(times[0]!) - 1).toISOString();
        expect(await at(justBefore)).toBe(await at("0"));
        expect(await at("2020-01-01")).toBe(await at("0"));
      });

    test("diff shows the pets that differ, in either direction", async () => {
      // On PostgreSQL as a process, which must end although it had connections.
      const run = engine === "postgres" ? place.run : place.runHere;
      expect((await run(["diff", "2", "4"])).out).toBe(
        `              petId  before            after
                  1       3 available     12 pending
${largest}       -                0 sold
`,
      );
      expect((await place.runHere(["diff", "4", times[1]!, "--json"])).out).toBe(
        `{"petId":1,"before":{"quantity":12,"status":"pending"},"after":{"quantity":3,"status":"available"}}
{"petId":${largest},"before":{"quantity":0,"status":"sold"},"after":null}
`,
      );
      expect(await place.rows("diff", "3", "3")).toEqual([]);
    });

    if (engine === "sqlite")
      test("--json prints the rows of the API, one per line", async () => {
        const { key } = await place.createKey("till");
        const service = await startTestService(engine, { database: place.database });
        for (const [command, path] of [
          [["snapshot", "4"], "/snapshots/4"],
          [["snapshot", times[1]!], `/snapshots/${times[1]}`],
          [["diff", "1", "4"], "/snapshots/1/diff?to=4"],
          [["diff", "4", "0"], "/snapshots/4/diff?to=0"],
        ] as const) {
          const { out } = await place.runHere([...command, "--json"]);
          const { text } = await service.call("GET", path, { key });
          expect(`[${out.trimEnd().split("\n").join()}]`).toBe(text);
        }
        await service.stop();
      });

    if (engine === "sqlite")
      test("moments that are invalid, in the future or past the last row are rejected", async () => {
        const rule = "must be the number of a ledger row, or a date or time in ISO 8601";
        for (const [words, sentence] of [
          [["snapshot", "yesterday"], `MOMENT ${rule}`],
          [["snapshot", ""], `MOMENT ${rule}`],
          [["snapshot", "-1"], `MOMENT ${rule}`],
          [["snapshot", "1e3"], `MOMENT ${rule}`],
          [["snapshot", "9007199254740992"], `MOMENT ${rule}`],
          [["snapshot", "2026-02-31"], `MOMENT ${rule}`],
          [["snapshot", "2026-11-15T10:00:00"], `MOMENT ${rule}`],
          [["snapshot", "\x1b[2J"], "not '\\u001b[2J'"],
          [["snapshot", "5"], "The ledger has no row 5. Its last row is 4."],
          [["snapshot", "9999-01-01"], "the time 9999-01-01 is in the future"],
          [["diff", "x", "1"], `FROM ${rule}`],
          [["diff", "1", "x"], `TO ${rule}`],
          [["diff", "1", "9999-01-01"], "is in the future"],
          [["diff", "1"], "TO is required; usage: petstore diff FROM TO [--json]"],
          [["snapshot"], "MOMENT is required"],
        ] as const) {
          expectUsageError(await place.runHere(words), sentence);
        }
      });

    if (engine === "sqlite")
      test("a long list is printed completely", async () => {
        // More than one slice of the inventory (sliceEntries).
        const pets = Array.from({ length: 9_000 }, (_, at) => `{"petId":${100 + at},"name":"x"}`);
        await place.importPets(...pets);
        const ids = (await place.rows<{ petId: number }>("snapshot", "9004")).map(
          (row) => row.petId,
        );
        expect(ids.slice(2, -1)).toEqual(Array.from({ length: 9_000 }, (_, at) => 100 + at));
        expect(await place.rows("diff", "4", "9004")).toHaveLength(9_000);
      });
  });
}
