import { existsSync } from "node:fs";
import { ServiceError } from "../../../domain/errors.ts";
import { needsMigration } from "../migrations.ts";
import { openForReading } from "./connection.ts";
import { filesOf } from "./files.ts";
import { isServedElsewhere } from "./serving-lock.ts";

/**
 * Rejects a store that a service of an older version is using. Migrating it would make that service
 * add ledger rows without hashes.
 */
export function assertNotServedByOlderVersion(path: string): void {
  const files = filesOf(path);
  if (!existsSync(files.database) || !isServedElsewhere(files)) return;
  const database = openForReading(path);
  try {
    if (!needsMigration(database)) return;
  } finally {
    database.close();
  }
  throw new ServiceError(
    "unavailable",
    "an older version of petstore is serving the store; restart it with this version first",
  );
}
