import { SQL } from "bun";
import type { Store } from "../../src/domain/ports.ts";
import { createDatabase } from "../../src/store/postgres/engine/database.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import type { TestClock } from "../support/clock.ts";
import { migratedDatabase } from "../support/postgres-template.ts";
import {
  connectionParts,
  engineParts,
  type StorePlace,
  storeSuite,
} from "../support/store-suite.ts";

async function enter(clock: TestClock, parameters: string): Promise<StorePlace> {
  const url = (await migratedDatabase()) + parameters;
  const opened = new Set<Store>();
  return {
    async open(environment = "production") {
      const database = createDatabase(url);
      const store = await openPostgres({ database, environment, clock, patienceMs: 0 });
      opened.add(store);
      return {
        ...store,
        close: () => {
          opened.delete(store);
          return store.close();
        },
      };
    },
    async execute(text) {
      await using sql = new SQL(url, { max: 1 });
      return await sql.unsafe(text);
    },
    async remove() {
      await Promise.all([...opened].map((store) => store.close()));
    },
  };
}

storeSuite("the PostgreSQL store", (clock) => enter(clock, ""), engineParts);
storeSuite(
  "the PostgreSQL store behind a pooler",
  (clock) => enter(clock, "?prepare=false"),
  connectionParts,
);
