import { existsSync, type Stats, statSync, truncateSync } from "node:fs";
import type { FileName, StoreFiles } from "./files.ts";

/** A change to a file of the store that was not made through SQLite, while this process had it open. */
export interface Damage {
  readonly file: string;
  readonly what: string;
  readonly todo: string;
  /** Whether the files that this process has open can still be read and are still correct. */
  readonly isReadable: boolean;
}

/** The damage as the cause of a failure. */
export function describeDamage({ file, what }: Damage): string {
  return `${file} ${what}`;
}

export type DamageCheck = ReturnType<typeof createDamageCheck>;

/**
 * Compares the files of a store with those that this process opened. A file that was deleted, moved
 * or replaced can still be written, and what is written to it is lost. If every file is in its place,
 * `isOverwritten` is called with the `Stats` of the database file.
 */
export function createDamageCheck(
  files: StoreFiles,
  names: readonly FileName[],
  isOverwritten?: (database: Stats) => boolean,
) {
  // A side file that does not exist yet, as in a store that no process serves, is not checked.
  let watched = names
    .map((name) => ({ name, opened: statOf(files[name]) }))
    .filter((one): one is { name: FileName; opened: Stats } => one.opened !== undefined);
  const bytes = new Map(watched.map(({ name, opened }) => [name, opened.size]));
  let damage: Damage | undefined;

  function search(skipped?: FileName): Damage | undefined {
    let database: Stats | undefined;
    for (const { name, opened } of watched) {
      if (name === skipped) continue;
      const found = statOf(files[name]);
      if (!found) return describe(files, name, "gone");
      if (found.ino !== opened.ino || found.dev !== opened.dev) {
        return describe(files, name, "replaced");
      }
      if (name === "database") database = found;
      const before = bytes.get(name)!;
      if ((name === "walIndex" || name === "changes") && found.size < before) {
        // SQLite maps the index. At its former length, access does not end the process, and SQLite
        // sees that the content has to be rebuilt.
        if (name === "walIndex") truncateSync(files.walIndex, before);
        return describe(files, name, "truncated");
      }
      bytes.set(name, found.size);
    }
    const isBad = database !== undefined && isOverwritten?.(database) === true;
    return isBad ? describe(files, "database", "overwritten") : undefined;
  }

  function find(skipped?: FileName): Damage | undefined {
    if (!damage || damage.isReadable) {
      const found = search(skipped);
      if (found) {
        damage = found;
        watched = watched.filter(({ name }) => files[name] !== found.file);
      }
    }
    return damage;
  }

  return {
    /**
     * The damage found by this call or an earlier one. If the store is still readable after damage, the
     * other files are still checked, and worse damage replaces it. Costs one `stat` per file.
     */
    find: () => find(),
    /**
     * The same for every commit, without the log: reading the times of a file makes the file system record
     * the time of its next write exactly, and each flush of the log would then have to store it.
     */
    findQuickly: () => find("wal"),
    /** Whether SQLite can still be used for reading. Costs one `stat`. */
    isReadable(): boolean {
      if (damage && !damage.isReadable) return false;
      // SQLite maps the index into memory. Reading it after it was truncated would end the process.
      const found = statOf(files.walIndex);
      return found !== undefined && found.size >= bytes.get("walIndex")!;
    },
  };
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

type Kind = "gone" | "replaced" | "truncated" | "overwritten";

const descriptions: Record<Kind, string> = {
  gone: "was deleted or moved away",
  replaced: "was replaced by another file",
  truncated: "was truncated",
  overwritten: "was truncated or overwritten in place",
};

function describe(files: StoreFiles, name: FileName, kind: Kind): Damage {
  const isMoved = name === "database" && (kind === "gone" || kind === "replaced");
  const hasNoData = name === "servingLock" || name === "changes";
  return {
    file: files[name],
    what: descriptions[kind],
    // Without the database file, a restart would not help, whatever else is gone.
    todo: existsSync(files.database) ? advice(name, kind) : goneAdvice,
    // A database that was moved, or a file without data, leaves the open files as they were.
    isReadable: isMoved || hasNoData,
  };
}

const goneAdvice =
  "If the database file was moved, stop the service, put the file back, and restart. If it was deleted, copy it from /proc before the service stops (docs/sqlite.md), or restore a backup.";

function advice(name: FileName, kind: Kind): string {
  if (name === "wal") {
    return "Stop the service with SIGTERM, not SIGKILL: it moves the log, which it still has open, into the database file. Then start it and run petstore verify.";
  }
  if (name !== "database") return "Restart the service.";
  return kind === "gone" || kind === "replaced"
    ? "Stop the service, put the file back, and restart."
    : "Stop the service, move -wal and -shm away, put a backup in the file's place, and restart.";
}
