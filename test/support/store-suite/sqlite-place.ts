import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite } from "../../../src/store/sqlite/store.ts";
import type { TestClock } from "../clock.ts";
import { createOpenedStores } from "./opened-stores.ts";
import type { StorePlace } from "./suite.ts";

/** A file in a new folder. If `threaded`, the first store has its writer on a thread. */
export async function enterSqlite(clock: TestClock, threaded: boolean): Promise<StorePlace> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-store-"));
  const path = join(folder, "test.db");
  const opened = createOpenedStores();
  return {
    async open(environment = "production") {
      // The first store is the service, and every other one a command.
      const serves = threaded && opened.isEmpty;
      const store = await openSqlite({ path, environment, clock, threaded: serves });
      return opened.add(store);
    },
    async execute(sql) {
      const database = new Database(path, { strict: true });
      try {
        database.run("PRAGMA foreign_keys = ON");
        return database.run(sql);
      } finally {
        database.close();
      }
    },
    async remove() {
      await opened.closeAll();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
