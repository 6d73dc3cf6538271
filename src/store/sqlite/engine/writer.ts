import { type ErrorCode, Refusal } from "../../../domain/errors.ts";
import type { Environment } from "../../../domain/keys.ts";
import type { Unit } from "../../../domain/ledger.ts";
import { createInventoryWriter } from "../inventory.ts";
import { createKeyWriter } from "../keys.ts";
import { createUsageWriter } from "../usage.ts";
import { guarded, openForWriting } from "./connection.ts";
import { createDamageCheck, type Damage } from "./damage.ts";
import { prepareFiles } from "./files.ts";
import type { PackedUnits } from "./messages.ts";

/** Everything that writes while the service runs, on one connection that may block its thread. */
export type Writer = ReturnType<typeof createWriter>;

/** The same, from a thread that does not block. */
export type Asynchronous<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never;
};

export type WriterRequest =
  | { id: number; method: "open"; args: [path: string, environment: Environment] }
  | { id: number; method: "commit"; args: [PackedUnits, now: number, withinMs: number] }
  | { id: number; method: Exclude<keyof Writer, "commit">; args: unknown[] };

export type WriterReply =
  | { id: number; result: unknown }
  | { id: number; refusal: { code: ErrorCode; message: string }; damage: Damage | undefined }
  | { id: number; bug: string };

/**
 * How long a write waits while another process holds the file. Long enough for an import of a
 * million rows to be applied, shorter than the time after which an idle connection is closed.
 */
export const busyWaitMs = 8_000;

const doubtStepMs = 20;

/** How long readers of an older state may keep a stranded log from being moved. */
const readersWaitMs = 1_000;

export function createWriter(path: string, environment: Environment) {
  const database = openForWriting(path, environment, busyWaitMs);
  const files = prepareFiles(path);
  const inventory = createInventoryWriter(database);
  const keys = createKeyWriter(database);
  const usage = createUsageWriter(database);
  const damage = createDamageCheck(files, database, ["database", "log", "index"]);
  let waitMs = busyWaitMs;
  let isLogSaved = false;

  /** Checks the files before a write and again before anybody is told of it. */
  function checked<A extends unknown[], T>(work: (...args: A) => T): (...args: A) => T {
    return guarded((...args) => {
      assertUndamaged();
      try {
        return work(...args);
      } finally {
        // Also after a failure, which damage may have caused.
        assertUndamaged();
      }
    });
  }

  function assertUndamaged(): void {
    // Doubt ends by itself, one way or the other, and this thread may wait for it.
    let found = damage.findQuickly();
    while (!found && damage.isInDoubt()) {
      Bun.sleepSync(doubtStepMs);
      found = damage.findQuickly();
    }
    if (!found) return;
    saveStrandedLog();
    throw new Refusal("unavailable", "The store cannot be written; try again later.");
  }

  /**
   * Moves updates into the database file if the log that holds them was deleted, or left behind by
   * a database that was moved: only this process can still read them. Not if somebody has begun a
   * new log, because its changes are not based on ours. Tells whether they are safe.
   */
  function saveStrandedLog(): boolean {
    isLogSaved ||= damage.find()?.isLogStranded === true && moveLogIntoFile();
    return isLogSaved;
  }

  function moveLogIntoFile(): boolean {
    if (damage.isReplaced("log")) return false;
    try {
      waitFor(readersWaitMs);
      const [row] = database.query("PRAGMA wal_checkpoint(FULL)").values();
      const [busy, pages, moved] = row as bigint[];
      return busy === 0n && pages === moved;
    } catch {
      return false;
    }
  }

  /** Sets how long the next statement waits for the file. */
  function waitFor(wantedMs: number): void {
    if (wantedMs === waitMs) return;
    database.run(`PRAGMA busy_timeout = ${wantedMs}`);
    waitMs = wantedMs;
  }

  /** For writes that come again by themselves: they never make an update wait. */
  const unhurried = <A extends unknown[], T>(work: (...args: A) => T) =>
    checked((...args: A) => {
      waitFor(0);
      return work(...args);
    });
  const patient = <A extends unknown[], T>(work: (...args: A) => T) =>
    checked((...args: A) => {
      waitFor(busyWaitMs);
      return work(...args);
    });

  return {
    commit: checked((units: readonly Unit[], now: number, withinMs: number) => {
      waitFor(withinMs);
      return inventory.commit(units, now);
    }),
    beginEpoch: patient((epoch: string) => {
      inventory.beginEpoch(epoch);
      // From now on the file itself shows which run of the service it belongs to.
      database.run("PRAGMA wal_checkpoint(PASSIVE)");
    }),
    addKey: patient(keys.addKey),
    addSecret: patient(keys.addSecret),
    revokeKey: patient(keys.revokeKey),
    saveUsage: unhurried(usage.saveUsage),
    saveBan: unhurried(usage.saveBan),
    liftBan: patient(usage.liftBan),
    saveStrandedLog,
    findDamage: () => damage.find(),
    close: () => database.close(),
  };
}
