import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { steps as postgresSteps } from "../../src/store/postgres/schema/steps.ts";
import { steps as sqliteSteps } from "../../src/store/sqlite/schema/steps.ts";
import { ledger } from "../fixtures/expected.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { unpackRelease } from "../support/release-code.ts";
import { readLedger, readRows, restore } from "../support/release-stores.ts";
import { engines, startTestService } from "../support/service.ts";
import { verifyStore } from "../support/stocking.ts";
import { expectUsageError } from "../support/usage-errors.ts";

let place: Workspace;
beforeEach(() => {
  place = openWorkspace();
});
afterEach(() => place.leave());

const backups = () => readdirSync(place.folder).filter((name) => name.includes("before"));
const versionOf = async (database: string) => (await readRows(database, "PRAGMA user_version"))[0];

/** The schema and every row of a SQLite store. */
async function contentOf(database: string) {
  const schema = await readRows(
    database,
    "SELECT type, name, sql FROM sqlite_schema ORDER BY name",
  );
  const tables = schema.filter(([type]) => type === "table").map(([, name]) => name);
  const rows = tables.map((name) => readRows(database, `SELECT * FROM "${name}" ORDER BY 1`));
  return { schema, tables, rows: await Promise.all(rows) };
}

describe("a SQLite store with the schema of 0.13.0", () => {
  test("is copied before a start migrates it, once, and 0.13.0 opens the copy", async () => {
    const database = await restore.sqlite("0.13.0", place);
    const before = await contentOf(database);
    const service = await startTestService("sqlite", { database });
    service.clock.set(Date.parse("2026-12-01T10:00:00Z"));
    await service.restart();
    await service.stop();
    const [name = "", ...others] = backups();
    expect(others).toEqual([]);
    const { release } = sqliteSteps.at(-1)!;
    expect(name).toStartWith(`store.before-${release}-`);
    expect(name).toMatch(/-\d{8}T\d{6}Z\.db$/);
    expect(service.logged.map((line) => JSON.parse(line)).slice(0, 3)).toMatchObject([
      { event: "mark missing" },
      { event: "backup before migration", file: place.path(name), bytes: expect.any(Number) },
      { event: "store migrated", from: 10, to: sqliteSteps.length, durationMs: expect.any(Number) },
    ]);
    expect(statSync(place.path(name)).mode & 0o777).toBe(0o600);
    const backup = `sqlite:${place.path(name)}`;
    expect(await versionOf(backup)).toEqual([10n]);
    expect(await contentOf(backup)).toEqual(before);
    expect(await readLedger(backup)).toEqual(ledger);
    // To go back, the copy takes the place of the store.
    renameSync(place.path(name), place.path("store.db"));
    const command = unpackRelease("0.13.0", place);
    const ran = await place.run(["verify", "--json", "--database", database], { command });
    expect({ ...ran, out: JSON.parse(ran.out) }).toMatchObject({
      code: 0,
      out: { rows: 12, faultCount: 0 },
    });
  });

  test("is not migrated if the copy cannot be made, and the message says what to do", async () => {
    const database = await restore.sqlite("0.13.0", place);
    const bytes = readFileSync(place.path("store.db"));
    // The name of the unfinished copy is taken, so that no file can be created under it.
    mkdirSync(place.path(".store.before-migration.tmp/taken"), { recursive: true });
    const ran = await place.runHere(["keys", "list", "--database", database]);
    expectUsageError(ran, `cannot make a backup in ${place.folder} before the migration: `);
    expect(ran.err).toMatch(
      /; nothing was changed: free \d+ bytes there or make the folder writable, then start again$/m,
    );
    expect(await versionOf(database)).toEqual([10n]);
    expect(readFileSync(place.path("store.db"))).toEqual(bytes);
    expect(backups()).toEqual([".store.before-migration.tmp"]);
  });

  test("of the other environment is neither copied nor migrated", async () => {
    const database = await restore.sqlite("0.13.0", place);
    const ran = await place.runHere(["keys", "list", "--env", "staging", "--database", database]);
    expectUsageError(ran, "the database belongs to the production environment, not to staging");
    expect(await versionOf(database)).toEqual([10n]);
    expect(backups()).toEqual([]);
  });

  test("that a service of 0.13.0 serves is not served by this version, and stays as it is", async () => {
    const database = await restore.sqlite("0.13.0", place);
    const command = unpackRelease("0.13.0", place);
    await place.serve(["serve", "--database", database], { command });
    const ran = await place.runHere(["serve", "--port", "0", "--database", database]);
    expectUsageError(ran, `another process is already serving ${place.path("store.db")}`);
    expect(await versionOf(database)).toEqual([10n]);
    expect(backups()).toEqual([]);
  });
});

test.each(engines)("a newer store on %s is refused with both versions", async (engine) => {
  const all = { sqlite: sqliteSteps, postgres: postgresSteps }[engine];
  const database = await restore[engine]("0.6.0", place);
  await verifyStore(database);
  await readRows(
    database,
    engine === "sqlite"
      ? "PRAGMA user_version = 99"
      : "UPDATE petstore_schema SET version = 99, fits = 98",
  );
  const refusal = `it has schema 99, and this version knows schema ${all.length}, of ${all.at(-1)!.release}; use the newer version`;
  const words = ["keys", "list", "--database", database];
  expectUsageError(await place.runHere(words), refusal);
  await expect(startTestService(engine, { database })).rejects.toThrow(refusal);
});
