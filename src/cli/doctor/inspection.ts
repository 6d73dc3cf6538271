import type { Config } from "../../config.ts";
import type { StoreInspection } from "../../domain/operations/inspection.ts";
import { filesOf } from "../../store/sqlite/engine/files.ts";
import { isServed } from "../../store/sqlite/engine/serving-lock.ts";
import { sqlitePath } from "../../store-file.ts";
import { assertStoreFile } from "../../stores.ts";

/** Opens an existing store for looking at it, and does not migrate it. Ends within `deadlineMs`. */
export async function inspectStore(config: Config, deadlineMs: number): Promise<StoreInspection> {
  const path = sqlitePath(config);
  if (path === undefined) {
    const { openInspection } = await import("../../store/postgres/inspection.ts");
    return openInspection(config.databaseUrl, deadlineMs);
  }
  await assertStoreFile(config);
  const { openInspection } = await import("../../store/sqlite/inspection.ts");
  return openInspection(path);
}

/** Whether a process serves the SQLite file. */
export function isFileServed(path: string): boolean {
  return isServed(filesOf(path));
}
