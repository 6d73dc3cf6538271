import type { Database } from "bun:sqlite";
import { every, inBackground } from "../../../domain/running/background.ts";
import { ServiceError, unavailable } from "../../../domain/running/errors.ts";
import type { Log } from "../../../domain/running/events.ts";
import {
  type ChangeReceiver,
  createChangeReceiver,
  createChangeSender,
} from "../engine/change-signal.ts";
import { createDataVersionReader } from "../engine/connection.ts";
import {
  createDamageCheck,
  type Damage,
  type DamageCheck,
  describeDamage,
} from "../engine/damage.ts";
import type { StoreFiles } from "../engine/files.ts";
import { relockForServing } from "../engine/serving-lock.ts";
import type { Writer } from "./writer.ts";

/**
 * Access to the files of an open store. Every read and every write goes through it, so that damaged
 * files are neither read nor written, and other processes learn of every write.
 */
export interface Access {
  /** Changes when any process has written. */
  version(): number;
  /** False once a file was found damaged. */
  canWrite(): boolean;
  /** Runs a read. Throws once a read could return wrong data or end the process. */
  read<T>(work: () => T): T;
  /** Runs a write. Rejects on damage. Resolves once the serving process has seen the write, or after 10 s. */
  write<T>(work: () => Promise<T>): Promise<T>;
  close(): void;
}

const pollEveryMs = 50;
/** The age of a mark. Each one is written to the disk later. */
const markEveryMs = 100;
const inspectEveryMs = 100;

/** Access for the serving process. Timers poll for changes and inspect the files. */
export function openServiceAccess(
  database: Database,
  files: StoreFiles,
  writer: Writer,
  log: Log,
): Access {
  const changes = createChangeReceiver(database, files);
  const check = createDamageCheck(files, ["database", "wal", "walIndex", "servingLock", "changes"]);
  const handler = createDamageHandler(files, check, changes, log);

  function refusal(reason: "unreadable" | "unwritable"): ServiceError {
    const damage = handler.damage();
    return unavailable(reason, damage && describeDamage(damage));
  }

  const stopInspecting = every(inspectEveryMs, "inspection of the store's files", log, () => {
    handler.inspect();
    if (handler.damage()) return;
    // The writer also checks the content of the files: before every commit, and here between commits.
    void writer.call("inspect").catch(() => handler.handle(writer.findDamage()));
  });
  const stopPolling = every(pollEveryMs, "poll for changes", log, () => {
    if (handler.isReadable()) changes.poll();
  });
  // Fails on a full disk. No update waits for it, but the next start notices fewer missing rows.
  const mark = inBackground("mark of the last row", log, () => {
    if (handler.isReadable()) changes.mark();
  });
  mark();
  const stopMarking = every(markEveryMs, "mark of the last row", log, mark);

  return {
    version: changes.version,
    canWrite: () => !handler.damage(),
    read(work) {
      if (!handler.isReadable()) {
        // At once, so that the reason is logged with the first error.
        handler.inspect();
        throw refusal("unreadable");
      }
      try {
        return work();
      } catch (error) {
        // Damage that was not found yet may have caused the error.
        handler.inspect();
        throw handler.isReadable() ? error : refusal("unreadable");
      }
    },
    async write(work) {
      if (handler.damage()) throw refusal("unwritable");
      try {
        return await work();
      } catch (error) {
        // Damage may have caused the error, found here or by the writer.
        handler.inspect();
        if (!handler.damage()) handler.handle(writer.findDamage());
        throw handler.damage() ? refusal("unwritable") : error;
      } finally {
        changes.advance();
      }
    },
    close() {
      stopInspecting();
      stopPolling();
      stopMarking();
      mark();
      changes.close();
      handler.close();
    },
  };
}

/** What the serving process does after damage: log it, and keep others out. */
function createDamageHandler(
  files: StoreFiles,
  check: DamageCheck,
  changes: ChangeReceiver,
  log: Log,
) {
  let damage: Damage | undefined;
  let isReadable = true;
  let isClosed = false;
  /** Releases the locks that this process had to take again. */
  const releases: (() => void)[] = [];

  function handle(found: Damage | undefined): void {
    if (!found || isClosed || !isReadable || found.file === damage?.file) return;
    damage = found;
    isReadable = found.isReadable;
    // Invalidates the cached head, so the next request reads the store and gets the error.
    changes.advance();
    const { file, what, todo } = found;
    log("store file damaged", { file, what, todo });
    blockOthers();
  }

  /** Keeps commands and other services from a store that this process can no longer write. */
  function blockOthers(): void {
    try {
      changes.reportDamage();
      const release = relockForServing(files);
      if (release) releases.push(release);
    } catch {
      // The folder is gone, or the disk is full. The next inspection tries again.
    }
  }

  return {
    damage: () => damage,
    isReadable: () => !isClosed && isReadable && check.isReadable(),
    handle,
    inspect(): void {
      // Files may be gone once the store is closed. A late read must not report that as damage.
      if (isClosed) return;
      handle(check.find());
      if (damage) blockOthers();
    },
    close(): void {
      isClosed = true;
      for (const release of releases) release();
    },
  };
}

/** Access for a command. It has no timers and checks when it needs to know. */
export function openCommandAccess(
  database: Database,
  files: StoreFiles,
  writer: Writer,
  onUnseen: () => void,
): Access {
  const changes = createChangeSender(files, onUnseen);

  return {
    version: createDataVersionReader(database),
    canWrite: () => writer.findDamage() === undefined,
    read: (work) => work(),
    async write(work) {
      changes.assertUndamaged();
      const result = await work();
      const found = writer.findDamage();
      if (found) {
        const lost = `${describeDamage(found)} during the write; the change may be lost`;
        throw new ServiceError("unavailable", lost);
      }
      await changes.send();
      return result;
    },
    close() {
      changes.mark(database);
      changes.close();
    },
  };
}

/** Access for a command that only reads, and the writer that it does not have. */
export function openReadingAccess(
  database: Database,
  files: StoreFiles,
): { readonly access: Access; readonly writer: Writer } {
  const findDamage = createDamageCheck(files, ["database", "wal", "walIndex"]).find;
  const write = async () => {
    throw new Error("this store was opened for reading");
  };
  const writer = {
    commit: write,
    call: write,
    findDamage,
    isAlive: () => true,
    close: async () => {},
  };
  const access = {
    version: createDataVersionReader(database),
    canWrite: () => findDamage() === undefined,
    read: <T>(work: () => T) => work(),
    write,
    close: () => {},
  };
  return { access, writer };
}
