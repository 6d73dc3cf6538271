import type { Database } from "bun:sqlite";
import { type Stats, statSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import { createContentCheck } from "./database-content.ts";
import type { StoreFiles } from "./files.ts";
import { createLogEndCheck } from "./log-end.ts";

/** Something that was done to a file of the store while this process had it open. */
export interface Damage {
  readonly file: string;
  readonly what: string;
  readonly todo: string;
  /** Whether what this process has open can still be read and is still right. */
  readonly isReadable: boolean;
  /** Whether the log that this process has open holds updates that are nowhere else. */
  readonly isLogStranded: boolean;
  /** Whether the log or its index is no longer what SQLite takes it for. It must not move the log. */
  readonly isLogMisread: boolean;
}

/**
 * Compares the files of a store with what this process opened. A file that was deleted, moved or
 * replaced can still be written, and nobody would ever find what it holds.
 */
export interface DamageCheck {
  /**
   * Damage found by this call or an earlier one; none is forgotten. After damage that leaves the
   * store readable the other files are still watched, and worse damage takes its place. Costs a
   * look at each file.
   */
  find(): Damage | undefined;
  /**
   * The same at less cost, for every commit. It asks for the log's identity only when something in
   * its folder was created, renamed or deleted: asking for a file's times makes the file system keep the time
   * of its next write exactly, and each flush of the log would then have to store it.
   */
  findQuickly(): Damage | undefined;
  /** Whether the database file could not be judged yet when it was last looked at. */
  isInDoubt(): boolean;
  /** Whether SQLite can still be used for reading. Costs a look at one file. */
  isReadable(): boolean;
  /** Whether another process has put a file of its own, with content, in the place of this one. */
  isReplaced(name: Name): boolean;
}

/** How long a database file that cannot be read is doubted before it counts as overwritten. */
const doubtMs = 500;

type Name = keyof StoreFiles;

export function createDamageCheck(
  files: StoreFiles,
  database: Database,
  names: readonly Name[],
): DamageCheck {
  // A side file that is not there yet, as in a store that nobody serves, is not watched.
  const openedAtFirst = names
    .map((name) => ({ name, opened: look(files[name]) }))
    .filter((one): one is { name: Name; opened: Stats } => one.opened !== undefined);
  let watched = openedAtFirst;
  const bytes = new Map(watched.map(({ name, opened }) => [name, opened.size]));
  const content = createContentCheck(files, database);
  const hasLog = watched.some(({ name }) => name === "log");
  const logEnd = hasLog ? createLogEndCheck(files) : undefined;
  let damage: Damage | undefined;
  let doubtedSince: number | undefined;

  const folders = [...new Set([dirname(files.database), dirname(files.log)])];
  let foldersAt = "";

  /** Whether a name appeared, vanished or got another file since this was last asked. */
  function haveNamesChanged(): boolean {
    const before = foldersAt;
    foldersAt = folders.map((folder) => look(folder)?.mtimeMs).join();
    return foldersAt !== before;
  }

  function search(skipped?: Name): Damage | undefined {
    let database: Stats | undefined;
    // Every file's identity before any file's content: reading content uses the index.
    for (const { name, opened } of watched) {
      if (name === skipped) continue;
      const found = look(files[name]);
      if (!found) return describe(files, name, "gone");
      if (found.ino !== opened.ino || found.dev !== opened.dev) {
        return describe(files, name, "replaced");
      }
      if (name === "database") database = found;
      const before = bytes.get(name)!;
      if ((name === "index" || name === "changes") && found.size < before) {
        // SQLite has the index mapped: with its length back, touching it does not end the process,
        // and SQLite finds that its content has to be made anew.
        if (name === "index") truncateSync(files.index, before);
        return describe(files, name, "truncated");
      }
      bytes.set(name, found.size);
    }
    const overwritten = logEnd?.findOverwritten();
    if (overwritten) return describe(files, overwritten, "overwritten");
    // A whole backup copied over the files agrees with itself.
    if (!skipped && content.hasGoneBack()) return describe(files, "log", "overwritten");
    return database && searchContent(database);
  }

  function searchContent(found: Stats): Damage | undefined {
    const verdict = content.judge(found);
    if (verdict === "whole") doubtedSince = undefined;
    else doubtedSince ??= performance.now();
    const isOverwritten =
      verdict === "foreign" ||
      (doubtedSince !== undefined && performance.now() - doubtedSince > doubtMs);
    return isOverwritten ? describe(files, "database", "overwritten") : undefined;
  }

  function find(skipped?: Name): Damage | undefined {
    if (damage && !damage.isReadable) return damage;
    const found = search(skipped);
    if (found) {
      damage = found;
      watched = watched.filter(({ name }) => files[name] !== found.file);
    }
    return damage;
  }

  function isReplaced(name: Name): boolean {
    const opened = openedAtFirst.find((one) => one.name === name)?.opened;
    const found = look(files[name]);
    return found !== undefined && found.ino !== opened?.ino && found.size > 0;
  }

  return {
    find: () => find(),
    findQuickly: () => (haveNamesChanged() ? find() : find("log")),
    isInDoubt: () => doubtedSince !== undefined,
    isReadable() {
      if (damage && !damage.isReadable) return false;
      // SQLite maps the index into memory; a read of it after somebody truncated it would end the
      // process.
      const found = look(files.index);
      return found !== undefined && found.size >= bytes.get("index")!;
    },
    isReplaced,
  };
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

type Kind = "gone" | "replaced" | "truncated" | "overwritten";

const words: Record<Kind, string> = {
  gone: "was deleted or moved away",
  replaced: "was replaced by another file",
  truncated: "was truncated",
  overwritten: "was truncated or overwritten in place",
};

function describe(files: StoreFiles, name: Name, kind: Kind): Damage {
  const isMoved = name === "database" && (kind === "gone" || kind === "replaced");
  const holdsNoData = name === "claim" || name === "changes";
  return {
    file: files[name],
    what: words[kind],
    todo: advice(name, kind),
    // A database that was moved, and files that hold no data, leave what is open as it was.
    isReadable: isMoved || holdsNoData,
    isLogStranded: isMoved || (name === "log" && kind !== "overwritten"),
    isLogMisread: (name === "log" || name === "index") && kind === "overwritten",
  };
}

function advice(name: Name, kind: Kind): string {
  if (name === "database") {
    return kind === "gone" || kind === "replaced"
      ? "Stop the service, put the file back, and restart."
      : "Stop the service, delete -wal and -shm, put a backup in the file's place, and restart.";
  }
  return name === "log" ? "Restart the service, then run petstore verify." : "Restart the service.";
}
