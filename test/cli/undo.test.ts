import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import type { Ran } from "../support/process.ts";
import { startTestService, surfaceEngine } from "../support/service.ts";
import { setUnit } from "../support/units.ts";
import { expectUsageError } from "../support/usage-errors.ts";
import { openStoreWorkspace, type StoreWorkspace } from "../support/workspaces.ts";

const largest = "9223372036854775807";
const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

/** Expects exit code 1 and one line on standard error. */
function expectRefused(ran: Ran, pattern: RegExp): void {
  expect(ran.err).toMatch(pattern);
  expect(ran.err).toMatch(/^petstore: [^\n]+\n$/);
  expect(ran).toMatchObject({ code: 1, out: "" });
}

for (const engine of [surfaceEngine]) {
  // What does not depend on the engine runs on one.
  describe(`undo on ${engine}`, () => {
    let place: StoreWorkspace;
    let key: string;
    let keyId: string;
    beforeEach(async () => {
      place = await openStoreWorkspace(engine);
      ({ key, id: keyId } = await place.createKey("Till 1"));
      await place.importPets(`{"petId":${largest},"name":"Rex","quantity":9}`);
      await place.importPets(`{"petId":${largest},"quantity":4,"status":"pending"}`);
    });
    afterEach(() => place.leave());

    test("restores quantity and status, and says what it did", async () => {
      const dryRun = await place.runHere(["undo", "2", "--dry-run"]);
      expect(dryRun).toMatchObject({
        code: 0,
        out: `Pet ${largest}: 4 pending → 9 available.\n`,
      });
      expect(await place.rows("ledger")).toHaveLength(2);
      expect(await place.runHere(["undo", "2"])).toEqual({
        code: 0,
        out: `Pet ${largest}: 4 pending → 9 available (row 3).\n`,
        err: "",
      });
      const undone = await place.runHere(["undo", "3", "--json"]);
      expect(undone).toMatchObject({ code: 0, err: "" });
      expect((await place.runHere(["history", largest, "--limit", "1", "--json"])).out).toBe(
        undone.out,
      );
      expect(JSON.parse(undone.out)).toMatchObject({
        seq: 4,
        before: { quantity: 9, status: "available" },
        after: { quantity: 4, status: "pending" },
        cause: "undo",
        keyId: null,
        keyName: null,
        requestId: null,
        reason: "undo of 3",
      });
      expect((await place.runHere(["verify"])).code).toBe(0);
    });

    if (engine === "sqlite")
      test("--reason replaces the reason, unless it is empty", async () => {
        await place.runHere(["undo", "2", "--reason", "wrong pet"]);
        await place.runHere(["undo", "3", "--reason", ""]);
        const rows = await place.rows<{ reason: string }>("ledger", "--after", "2");
        expect(rows.map(({ reason }) => reason)).toEqual(["wrong pet", "undo of 3"]);
      });

    test("a service that runs shows it at once, one that starts later too, and no ETag from before matches", async () => {
      const serve = () => startTestService(engine, { database: place.database });
      const first = await serve();
      const before = await first.call("GET", "/inventory", { key });
      expect((await place.runHere(["undo", "2"])).code).toBe(0);
      const headers = { "If-None-Match": before.headers.get("ETag")! };
      const after = await first.call("GET", "/inventory", { key, headers });
      expect(after.status).toBe(200);
      expect(after.text).toBe(`[{"petId":${largest},"quantity":9,"status":"available"}]`);
      const etag = after.headers.get("ETag")!;
      expect(etag).not.toBe(headers["If-None-Match"]);
      await first.stop();
      expect((await place.runHere(["undo", "3"])).code).toBe(0);
      const second = await serve();
      const later = await second.call("GET", "/inventory", {
        key,
        headers: { "If-None-Match": etag },
      });
      expect(later.status).toBe(200);
      expect(later.text).toContain('"quantity":4');
      await second.stop();
    });

    if (engine === "sqlite")
      test("is refused if the pet changed since, and --force overwrites the change", async () => {
        const update = setUnit(BigInt(largest), 6, { keyId, requestId: "req_1" });
        await place.withStore(({ inventory }) => inventory.commit([update]));
        const by = (who: string, row: number) =>
          new RegExp(
            `pet ${largest} is no longer as row 2 left it: ${who} changed it at ${time} \\(row ${row}\\); --force overwrites that\n`,
          );
        expectRefused(await place.runHere(["undo", "2"]), by("key Till 1", 3));
        expectRefused(await place.runHere(["undo", "2", "--json"]), by("key Till 1", 3));
        await place.importPets(`{"petId":${largest},"quantity":8}`);
        expectRefused(await place.runHere(["undo", "2"]), by("an import", 4));
        expectRefused(await place.runHere(["undo", "2", "--dry-run"]), by("an import", 4));
        expect((await place.runHere(["undo", "2", "--force", "--dry-run", "--json"])).out).toBe(
          `{"petId":${largest},"before":{"quantity":8,"status":"pending"},"after":{"quantity":9,"status":"available"}}\n`,
        );
        expect(await place.rows("ledger")).toHaveLength(4);
        const forced = await place.runHere(["undo", "2", "--force"]);
        expect(forced.out).toBe(`Pet ${largest}: 8 pending → 9 available (row 5).\n`);
        expectRefused(await place.runHere(["undo", "2"]), by("an undo", 5));
      });

    test("of an import takes back all its changes, and keeps what was sold since with --force", async () => {
      await Bun.write(place.path("wrong.csv"), `petId,name,quantity\n${largest},Rex,50\n1,New,7\n`);
      expect((await place.runHere(["pets", "import", "wrong.csv"])).code).toBe(0);
      const [row] = await place.rows<{ requestId: string }>("ledger", "--after", "2");
      const undo = (...flags: string[]) =>
        place.runHere(["undo", "--request", row!.requestId, ...flags]);
      expect((await undo("--dry-run")).out).toEndWith(`Pet ${largest}: 50 pending → 4 pending\n`);
      const sale = setUnit(BigInt(largest), 48, { keyId, requestId: "req_sale" });
      await place.withStore(({ inventory }) => inventory.commit([sale]));
      const left = await undo();
      expect(left).toMatchObject({ code: 1, err: "" });
      expect(left.out).toStartWith(
        `2 changes found, 0 pets undone, 1 pet changed since, 1 left out.\nPet ${largest}: 48 pending (It was changed since.`,
      );
      expect((await undo("--force", "--json")).out).toContain('"undone":1,');
      expect(await place.rows<object>("ledger", "--after", "5")).toMatchObject([
        { cause: "undo", after: { quantity: 2 }, reason: `undo of ${row!.requestId}` },
      ]);
      // A second undo would count the changes twice.
      expect((await undo("--force")).out).toContain("0 pets undone, 0 pets changed since, 2 left");
      const period = ["--from", "2020-01-01", "--to", "2100-01-01"];
      const ofKey = await place.runHere(["undo", "--key", keyId, ...period, "--dry-run"]);
      expect(ofKey.out).toStartWith("1 change found, 0 pets would be undone, ");
      expect((await place.runHere(["verify"])).code).toBe(0);
    });

    test("of several changes leaves out pets that change meanwhile", async () => {
      const records = async function* () {
        yield [{ line: 0, petId: BigInt(largest), quantity: 9 }];
      };
      await place.withStore(async ({ catalogue }) => {
        const origin = { ...commandImport("undo"), undoAsOf: 1 };
        expect(await catalogue.importPets(records(), origin)).toMatchObject({ changed: 0 });
      });
      expect(await place.rows("ledger")).toHaveLength(2);
    });

    if (engine === "sqlite")
      test("is refused for the row that created a pet", async () => {
        for (const flags of [[], ["--force"]]) {
          expectRefused(
            await place.runHere(["undo", "1", ...flags]),
            new RegExp(`row 1 cannot be undone, because it created pet ${largest}\n`),
          );
        }
        expect(await place.rows("ledger")).toHaveLength(2);
      });

    if (engine === "sqlite")
      test("is an error for a row that does not exist or an invalid number", async () => {
        const rule = "SEQ must be an integer from 1 to 9007199254740991, not";
        for (const [words, sentence] of [
          [["99"], "there is no ledger row 99"],
          [["9007199254740991"], "there is no ledger row 9007199254740991"],
          [["9007199254740992"], rule],
          [["0"], `${rule} '0'`],
          [["-1"], `${rule} '-1'`],
          [["1e3"], `${rule} '1e3'`],
          [["2.0"], rule],
          [["02"], rule],
          [[""], "give either SEQ, or one of --request"],
          [[], "give either SEQ, or one of --request"],
          [["2", "--request", "req_1"], "give either SEQ"],
          [["--dry-run"], "give either SEQ"],
          [["--pet", "1.5"], "--pet must be a 64-bit integer"],
          [["--cause", "chance"], "--cause must be one of"],
          [["--key", "key_1", "--to", "2026-11-15"], "no change was found"],
          [["--key", "key_1", "--from", "soon", "--to", "2026-11-15"], "--from must be a time"],
          [["--request", "req_none"], "no change was found"],
          [["2", "--reason", "a\tb"], "--reason must have at most 200 characters"],
          [["2", "--reason", "x".repeat(201)], "--reason must have at most 200 characters"],
          [["2", "3"], "unexpected operand '3'"],
        ] as const) {
          expectUsageError(await place.runHere(["undo", ...words]), sentence);
        }
        expect(await place.rows("ledger")).toHaveLength(2);
      });
  });
}
