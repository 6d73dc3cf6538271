import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { schemaNumber } from "../../src/store/schema.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace } from "../support/process.ts";
import { type Engine, engines, startTestService } from "../support/service.ts";
import { importPets, verifyStore } from "../support/stocking.ts";
import { readRows, setSchemaNumber } from "../support/stored-rows.ts";
import { expectUsageError } from "../support/usage-errors.ts";

const place = openWorkspace();
afterAll(() => place.leave());

let made = 0;
const fresh: Record<Engine, () => Promise<string>> = {
  sqlite: async () => `sqlite:${place.path(`${++made}/store.db`)}`,
  postgres: () => createdDatabase(),
};

/** Digests of a SQLite store and its mark. */
function contentOf(database: string): readonly string[] {
  if (!database.startsWith("sqlite:")) return [];
  const path = database.slice("sqlite:".length);
  return ["", "-changes"].map((ending) => Bun.hash(readFileSync(path + ending)).toString());
}

describe.each(engines)("a store of another version on %s", (engine) => {
  // 0.15.0 and 0.16.0 wrote 11 and 15. A later version writes a higher number. A copy that another program
  // made of a SQLite store has none.
  test.each([...(engine === "sqlite" ? [0, 11] : [15]), schemaNumber + 1])(
    "with schema %d is refused in one sentence by every command and by a start, and stays as it is",
    async (number) => {
      const database = await fresh[engine]();
      await importPets(database, '{"petId":1,"name":"Rex","quantity":3}');
      await setSchemaNumber(database, number);
      const before = contentOf(database);
      const advice =
        number > schemaNumber
          ? "use the version that made it"
          : "back it up with the version that made it, and restore that backup with this one (docs/upgrading.md)";
      const sentence = `the store has schema ${number}, but this version needs ${schemaNumber}: ${advice}`;
      const words = [
        ["verify"],
        ["keys", "list"],
        ["keys", "create", "--name", "a", "--plan", "free"],
      ];
      for (const command of words) {
        expectUsageError(await place.runHere([...command, "--database", database]), sentence);
      }
      await expect(startTestService(engine, { database })).rejects.toThrow(sentence);
      expect(contentOf(database)).toEqual(before);
      await setSchemaNumber(database, schemaNumber);
      expect(await verifyStore(database)).toMatchObject({ rows: 1, faultCount: 0 });
    },
  );
});

test("the number of the schema is higher than any that 0.15.0 knows", async () => {
  const database = `sqlite:${place.path("numbered.db")}`;
  await importPets(database, '{"petId":1,"name":"Rex"}');
  const [[number] = []] = await readRows(database, "PRAGMA user_version");
  // Its highest was 11, and on PostgreSQL 15.
  expect(Number(number)).toBeGreaterThan(15);
  const postgres = await createdDatabase();
  const [row] = await readRows(postgres, "SELECT version, fits FROM petstore_schema");
  expect(row!.map(Number)).toEqual([Number(number), Number(number)]);
});
