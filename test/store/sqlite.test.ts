import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../../src/domain/ports.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import type { TestClock } from "../support/clock.ts";
import { type StorePlace, storeSuite, writerParts } from "../support/store-suite.ts";

async function enter(clock: TestClock, threaded: boolean): Promise<StorePlace> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-store-"));
  const path = join(folder, "test.db");
  const opened = new Set<Store>();
  return {
    async open(environment = "production") {
      // The first store is the service, and every other one a command.
      const serves = threaded && opened.size === 0;
      const store = await openSqlite({ path, environment, clock, threaded: serves });
      opened.add(store);
      return {
        ...store,
        close: () => {
          opened.delete(store);
          return store.close();
        },
      };
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
      await Promise.all([...opened].map((store) => store.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

storeSuite("SQLite, opened by commands", (clock) => enter(clock, false));
storeSuite(
  "SQLite, opened by the service and by commands beside it",
  (clock) => enter(clock, true),
  writerParts,
);
