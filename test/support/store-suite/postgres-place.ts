import { SQL } from "bun";
import { createDatabase } from "../../../src/store/postgres/engine/database.ts";
import type { TestClock } from "../clock.ts";
import { openConnected } from "../postgres-store.ts";
import { createdDatabase } from "../postgres-template.ts";
import { createOpenedStores } from "./opened-stores.ts";
import type { StorePlace } from "./suite.ts";

/** A database on the shared server, whose address ends with these parameters. */
export async function enterPostgres(clock: TestClock, parameters: string): Promise<StorePlace> {
  const url = (await createdDatabase()) + parameters;
  const opened = createOpenedStores();
  return {
    async open(environment = "production") {
      const database = createDatabase(url);
      const store = await openConnected({ database, environment, clock });
      return opened.add(store);
    },
    async execute(text) {
      await using sql = new SQL(url, { max: 1 });
      return await sql.unsafe(text);
    },
    async remove() {
      await opened.closeAll();
    },
  };
}
