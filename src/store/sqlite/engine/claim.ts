import { Database } from "bun:sqlite";
import { existsSync, statSync, truncateSync } from "node:fs";
import { Refusal } from "../../../domain/errors.ts";
import { createPrivate, nameFiles, prepareFiles, type StoreFiles } from "./files.ts";

/** How long a claim waits for a command that only asks whether the store is served. */
const claimWaitMs = 500;

/**
 * Claims the store for one serving process and returns what ends the claim. Two processes would
 * each count limits on their own and admit twice as many requests. The claim is a lock that the
 * operating system drops with the process.
 */
export function claimForServing(path: string): () => void {
  // Before the file is created: one that was moved away from its service must not get a successor.
  if (isServed(nameFiles(path))) throw alreadyServed(path);
  const files = prepareFiles(path);
  const found = statSync(path);
  if (found.isFile() && found.nlink > 1) {
    // SQLite keeps one log for each name, so changes made through one would destroy the others.
    throw new Refusal(
      "unavailable",
      `${path} has a second name (a hard link): a store must have one name only`,
    );
  }
  const release = lockClaim(files, claimWaitMs);
  if (!release) throw alreadyServed(path);
  // What a process that was killed left there says that it still serves.
  if (existsSync(files.changes)) truncateSync(files.changes);
  return release;
}

/**
 * Takes the claim again if its file was deleted under the process that holds it, so that no other
 * process can take it. Returns what ends the claim.
 */
export function renewClaim(files: StoreFiles): (() => void) | undefined {
  return existsSync(files.claim) ? undefined : lockClaim(files, 0);
}

function lockClaim({ claim: file }: StoreFiles, waitMs: number): (() => void) | undefined {
  createPrivate(file);
  const claim = new Database(file);
  try {
    claim.run(`PRAGMA busy_timeout = ${waitMs}`);
    // Nothing is ever written to it, so it needs no journal beside it.
    claim.run("PRAGMA journal_mode = MEMORY");
    claim.run("PRAGMA locking_mode = EXCLUSIVE");
    claim.run("BEGIN EXCLUSIVE");
  } catch {
    claim.close();
    return undefined;
  }
  return () => claim.close();
}

function alreadyServed(path: string): Refusal {
  return new Refusal("unavailable", `another petstore is already serving ${path}`);
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
