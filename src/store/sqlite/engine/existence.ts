import { statSync } from "node:fs";
import { ServiceError } from "../../../domain/running/errors.ts";
import { journalModeOf } from "../creation.ts";
import { guarded, openForReading } from "./connection.ts";
import { hasContent } from "./files.ts";
import { recoverFile } from "./recovery.ts";

/** Throws if there is no store at this path. Does not create anything. */
export function assertStore(path: string): void {
  // Throws if the user may not look: then nobody knows whether there is a store.
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  if (!isThere) throw noStore(`there is no store at ${path}`);
  recoverFile(path);
  if (!hasContent(path)) throw noStore(`there is no store at ${path}: the file is empty`);
  if (hasTables(path)) return;
  throw noStore(`there is no store at ${path}: the database has no tables`);
}

const recoveryWaitMs = 8_000;

const hasTables = guarded((path: string): boolean => {
  using database = openForReading(path);
  // Another process may be recovering the store.
  database.run(`PRAGMA busy_timeout = ${recoveryWaitMs}`);
  const [tables] = database.query("SELECT count(*) FROM sqlite_schema").values()[0]!;
  // A file with a log is rejected when it is opened for writing, with what is missing.
  return tables !== 0n || journalModeOf(database) === "wal";
});

function noStore(problem: string): ServiceError {
  return new ServiceError("not_found", `${problem}; check --database`);
}
