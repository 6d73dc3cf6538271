import { readConfig } from "../../src/config.ts";
import { systemClock } from "../../src/opening/engines.ts";
import { openOrCreateStore } from "../../src/opening/stores.ts";
import { sharedPostgres } from "./postgres.ts";

const templates: Record<string, Promise<string>> = {};

/** A new database with the schema on the shared server. Copying is faster than creating. */
export async function createdDatabase(env = "production"): Promise<string> {
  templates[env] ??= makeTemplate(env);
  return (await sharedPostgres()).freshDatabase(await templates[env]);
}

async function makeTemplate(env: string): Promise<string> {
  const url = await (await sharedPostgres()).freshDatabase();
  const store = await openOrCreateStore(readConfig({ env, database: url }, {}), systemClock);
  await store.close();
  return new URL(url).pathname.slice(1);
}
