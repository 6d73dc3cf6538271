import { Database } from "bun:sqlite";
import { existsSync, statSync, truncateSync } from "node:fs";
import { Refusal } from "../../domain/errors.ts";
import { createPrivate, prepareFiles, type StoreFiles } from "./files.ts";

/** How long a claim waits for a command that only asks whether the store is served. */
const claimWaitMs = 500;

/**
 * Claims the store for one serving process and returns what ends the claim. Two processes would
 * each count limits on their own and admit twice as many requests. The claim is a lock that the
 * operating system drops with the process.
 */
export function claimForServing(path: string): () => void {
  const files = prepareFiles(path);
  if (statSync(path).nlink > 1) {
    // SQLite keeps one log for each name, so changes made through one would destroy the others.
    throw new Refusal(
      "unavailable",
      `${path} has a second name (a hard link): a store must have one name only`,
    );
  }
  createPrivate(files.claim);
  const claim = new Database(files.claim);
  try {
    claim.run(`PRAGMA busy_timeout = ${claimWaitMs}`);
    // Nothing is ever written to it, so it needs no journal beside it.
    claim.run("PRAGMA journal_mode = MEMORY");
    claim.run("PRAGMA locking_mode = EXCLUSIVE");
    claim.run("BEGIN EXCLUSIVE");
  } catch {
    claim.close();
    throw new Refusal("unavailable", `another petstore is already serving ${path}`);
  }
  // What a process that was killed left there says that it still serves.
  if (existsSync(files.changes)) truncateSync(files.changes);
  return () => claim.close();
}

/** Whether a process holds the claim now. */
export function isServed({ claim }: StoreFiles): boolean {
  if (!existsSync(claim)) return false;
  const probe = new Database(claim, { readonly: true });
  try {
    probe.query("SELECT 1 FROM sqlite_schema").values();
    return false;
  } catch {
    return true;
  } finally {
    probe.close();
  }
}
