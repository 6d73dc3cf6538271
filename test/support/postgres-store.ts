import type { Store } from "../../src/domain/store.ts";
import { openPostgres, type PostgresOptions } from "../../src/store/postgres/store.ts";
import { until } from "./until.ts";

/**
 * Opens a store and all its connections, as a service does before it is ready. On a busy machine a
 * connection takes longer than a call waits for it.
 */
export async function openConnected(options: Omit<PostgresOptions, "patienceMs">): Promise<Store> {
  const store = await openPostgres({ ...options, patienceMs: 60_000 });
  await until(options.database.openConnections, 10_000, "every connection");
  return store;
}
