import { Database } from "bun:sqlite";
import type { EngineFact, StoreInspection } from "../../domain/operations/inspection.ts";
import { keyReads } from "../keys.ts";
import { maintenanceReads } from "../maintenance.ts";
import { webhookReads } from "../webhooks.ts";
import { assertOurs, readNumber } from "./creation.ts";
import { assertUndamaged } from "./engine/change-signal.ts";
import { guarded, promised, unavailableOr, wrapMethods } from "./engine/connection.ts";
import { filesOf } from "./engine/files.ts";
import { recoverFile } from "./engine/recovery.ts";
import { scriptsOn } from "./engine/scripts.ts";
import { createHistoryReader } from "./history.ts";
import { banReads, usageReads } from "./usage.ts";

/** How long to wait for the locks of other processes. An import holds the write lock for longer. */
const busyWaitMs = 1_000;

/** Opens an existing file. Like every command it may check in the log that a killed process left. */
export function openInspection(path: string): StoreInspection {
  // First: opening a store whose service has lost track of its files adds more damage.
  assertUndamaged(filesOf(path));
  recoverFile(path);
  let database: Database | undefined;
  try {
    database = new Database(path, { readwrite: true, create: false, safeIntegers: true });
    database.run(`PRAGMA busy_timeout = ${busyWaitMs}`);
    assertOurs(database);
    return createInspection(path, database);
  } catch (error) {
    database?.close();
    throw unavailableOr(error);
  }
}

function createInspection(path: string, database: Database): StoreInspection {
  const first = (text: string) => database.query(text).values()[0] ?? [];
  // Statements are prepared when they are needed: another schema may lack tables.
  const reads = {
    readSchema: () => readNumber(database),
    findEnvironment: () => first("SELECT environment FROM head")[0] as string,
    checkWritable() {
      database.run("BEGIN IMMEDIATE");
      database.run("ROLLBACK");
    },
    readTimes() {
      const [lastRowAt = 0, lastWindowAt = 0] = first(
        "SELECT at, (SELECT coalesce(max(minute_start), 0) FROM usage) FROM head",
      ).map(Number);
      return { serverNow: undefined, lastRowAt, lastWindowAt };
    },
    hasRow: (seq: number, hash: string) =>
      createHistoryReader(database).hasRow(seq, hash) as boolean,
    listFacts: () => listFacts(first),
    loadBans: () => scriptsOn(database, banReads).loadBans(Date.now()),
    ...scriptsOn(database, { ...keyReads, ...maintenanceReads, ...usageReads, ...webhookReads }),
  };
  return {
    label: path,
    isOpen: true,
    ...promised(wrapMethods(reads, guarded)),
    close: () => database.close(),
  };
}

function listFacts(first: (text: string) => unknown[]): readonly EngineFact[] {
  const mode = String(first("PRAGMA journal_mode")[0]);
  return [
    { name: "SQLite version", result: "ok", found: String(first("SELECT sqlite_version()")[0]) },
    mode === "wal"
      ? { name: "journal mode", result: "ok", found: mode }
      : {
          name: "journal mode",
          result: "warning",
          found: `${mode} instead of wal`,
          advice: "The next start sets it. Check that no other program opens this file.",
        },
  ];
}
