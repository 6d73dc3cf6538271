import { tmpdir } from "node:os";
import { join } from "node:path";
import { examine } from "../../src/cli/doctor/doctor.ts";
import { defaultBounds, type Finding } from "../../src/cli/doctor/finding.ts";
import type { Store } from "../../src/domain/store.ts";
import { createKey, withStoreAt } from "./stocking.ts";

/** The disk of a test machine may be slow at times. */
export const patientBounds = { ...defaultBounds, flushMsMax: 60_000 };

const noFolder = join(tmpdir(), "petstore-no-backups");

/** Runs every check on a database, with a port that nothing else uses. */
export function examineStore(
  database: string,
  flags: Record<string, string> = {},
  bounds: Partial<typeof defaultBounds> = {},
): Promise<readonly Finding[]> {
  // The default is a folder of this checkout, which may have backups.
  const settings = { database, port: "0", "backup-folder": noFolder, ...flags };
  return examine(settings, {}, { ...patientBounds, ...bounds });
}

/** Fills a new store so that no check has anything to say: a key, a backup and a drill. */
export async function makeHealthy(database: string): Promise<void> {
  await createKey(database, { name: "shop", plan: "business" });
  await recordTasks(database, Date.now());
}

/** Records that a backup and a drill succeeded. */
export function recordTasks(database: string, at: number): Promise<void> {
  return withStoreAt(database, async ({ maintenance }: Store) => {
    await maintenance.endTask("backup", at, "{}");
    await maintenance.endTask("drill", at, "{}");
  });
}

/** What the shared PostgreSQL server of the tests lacks. */
const ofTestServer = new Set(["fsync", "full_page_writes"]);

/** The findings that are not ok, besides those that every database of the shared server has. */
export function complaints(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ name, result }) => result !== "ok" && !ofTestServer.has(name));
}

export function findingsOf(findings: readonly Finding[], name: string): readonly Finding[] {
  return findings.filter((finding) => finding.name === name);
}
