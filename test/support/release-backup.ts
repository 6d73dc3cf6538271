import { copyFileSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Workspace } from "./process.ts";
import type { Engine } from "./service.ts";

/** What a backup in test/fixtures contains, as the release itself told it. */
export interface ReleaseBackup {
  /** Id and texts of every key, by its name. A rotated key has two texts, the older one first. */
  readonly keys: Readonly<Record<string, { id: string; texts: readonly string[] }>>;
  /** What `petstore keys list --json` printed. */
  readonly listed: readonly { name: string; lastUsedAt: string | null }[];
  /** What `petstore webhooks list --json` printed. */
  readonly webhooks: readonly { readonly secretUntil?: string }[];
  /** The last ledger row and its hash, as `petstore verify --json` printed them. */
  readonly head: { readonly seq: number; readonly hash: string };
}

const fixture = (name: string) => resolve(import.meta.dir, "../fixtures", name);

export function readReleaseBackup(engine: Engine): ReleaseBackup {
  return JSON.parse(readFileSync(fixture("backup-0.15.0.json"), "utf8"))[engine];
}

/** Copies the backup into a workspace: a restore to a database server works in a folder beside it. */
export function copyReleaseBackup(engine: Engine, place: Workspace): string {
  const file = place.path(`backup-0.15.0-${engine}.petstore`);
  copyFileSync(fixture(`backup-0.15.0-${engine}.petstore`), file);
  return file;
}
