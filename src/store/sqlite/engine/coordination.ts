import type { Database } from "bun:sqlite";
import { every } from "../../../domain/background.ts";
import { Refusal } from "../../../domain/errors.ts";
import type { Log } from "../../../domain/ports.ts";
import { receiveChanges, sendChanges } from "./change-signal.ts";
import { renewClaim } from "./claim.ts";
import { createDamageCheck, type Damage } from "./damage.ts";
import type { StoreFiles } from "./files.ts";
import type { WriterThread } from "./writer-thread.ts";

/** How an open store keeps in step with the other processes on its files, and notices damage. */
export interface Coordination {
  /** Another number after anybody has written. */
  version(): number;
  /** False once a file was found damaged. */
  canWrite(): boolean;
  /** Reads: refused once that might give wrong answers or end the process. */
  read<T>(work: () => T): T;
  /** Runs a write: refused on damage, and done only when those who have to know of it do. */
  write<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Returns false if SQLite must not close its connections: that moves the log into the database,
   * and the log belongs to another process by now, or is no longer what it was.
   */
  close(): boolean;
}

const pollEveryMs = 50;
const inspectEveryMs = 100;

export function coordinateService(
  database: Database,
  files: StoreFiles,
  thread: WriterThread,
  log: Log,
): Coordination {
  const changes = receiveChanges(database, files);
  const check = createDamageCheck(files, database, [
    "database",
    "log",
    "index",
    "claim",
    "changes",
  ]);
  let noticed: Damage | undefined;
  let isReadable = true;
  let isClosed = false;
  let savingLog = Promise.resolve();
  /** Claims that this process had to take again. */
  const claims: (() => void)[] = [];

  function inspect(): void {
    // A late reader of a store that was closed must not take that for damage.
    if (isClosed) return;
    notice(check.find());
    if (noticed) keepOthersOut();
  }

  /** Commands, and another service, must not work on a store that this process has lost track of. */
  function keepOthersOut(): void {
    try {
      changes.reportDamage();
      const renewed = renewClaim(files);
      if (renewed) claims.push(renewed);
    } catch {
      // The folder is gone, or the disk is full: the next inspection tries again.
    }
  }

  function notice(found: Damage | undefined): void {
    if (!found || isClosed || found.file === noticed?.file) return;
    noticed = found;
    isReadable &&= found.isReadable;
    // Whoever reads next looks at the store anew, and finds that it cannot.
    changes.advance();
    const { file, what, todo, isLogStranded } = found;
    log("store file damaged", { file, what, todo });
    keepOthersOut();
    if (isLogStranded) savingLog = saveLog();
  }

  /** A write failed: perhaps because of damage, seen here or by the thread. */
  async function refuseOnDamage(): Promise<void> {
    inspect();
    if (!noticed) notice(thread.findDamage());
    if (noticed) await savingLog.then(refuse);
  }

  /** Nobody waits for the next inspection to learn why. */
  function unreadable(): Refusal {
    inspect();
    return new Refusal("unavailable", "The store cannot be read; try again later.");
  }

  async function saveLog(): Promise<void> {
    const isSaved = await thread.saveStrandedLog().catch(() => false);
    log(isSaved ? "updates saved into the database file" : "updates not saved");
  }

  const stopInspecting = every(inspectEveryMs, "inspection of the store's files", log, inspect);
  const stopPolling = every(pollEveryMs, "poll for changes", log, () => {
    if (isReadable && check.isReadable()) changes.poll();
  });

  return {
    version: changes.version,
    canWrite: () => !noticed,
    read(work) {
      if (isClosed || !isReadable || !check.isReadable()) throw unreadable();
      try {
        return work();
      } catch (error) {
        // What SQLite trips over may be damage that nobody has noticed yet.
        inspect();
        throw isReadable && check.isReadable() && !check.isInDoubt() ? error : unreadable();
      }
    },
    async write(work) {
      // Whoever is refused knows that what was acknowledged before is safe, if it can be.
      if (noticed) await savingLog.then(refuse);
      try {
        return await work();
      } catch (error) {
        await refuseOnDamage();
        throw error;
      } finally {
        changes.advance();
      }
    },
    close() {
      isClosed = true;
      stopInspecting();
      stopPolling();
      changes.close();
      for (const release of claims) release();
      if (noticed?.isLogMisread) return false;
      return !check.isReplaced("log") && !check.isReplaced("index");
    },
  };
}

/** A command has no timer: it asks when it needs to know. */
export function coordinateCommand(database: Database, files: StoreFiles): Coordination {
  const changes = sendChanges(files);
  const check = createDamageCheck(files, database, ["database", "log", "index"]);
  const dataVersion = database.query("PRAGMA data_version");

  return {
    version: () => Number((dataVersion.values()[0] as unknown[])[0]),
    canWrite: () => check.find() === undefined,
    read: (work) => work(),
    async write(work) {
      changes.assertUndamaged();
      const result = await work();
      const found = check.find();
      if (found) throw mayBeLost(found);
      await changes.send();
      return result;
    },
    close() {
      changes.close();
      return true;
    },
  };
}

function refuse(): never {
  throw new Refusal("unavailable", "The store cannot be written; try again later.");
}

function mayBeLost({ file, what }: Damage): Refusal {
  return new Refusal("unavailable", `${file} ${what} meanwhile: the change may be lost`);
}
