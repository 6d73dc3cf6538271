import type { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import type { Unit } from "../../../domain/ledger/ledger.ts";
import { ServiceError, unavailable } from "../../../domain/running/errors.ts";
import { madePruning } from "../../made.ts";
import { requestWrites } from "../../requests.ts";
import { salesWrites } from "../../sales.ts";
import { scriptedWrites } from "../../scripted-ports.ts";
import { banWrites } from "../../usage.ts";
import { checkpointWrites } from "../checkpoints.ts";
import { type CommittedHead, createLedgerWriter } from "../commit.ts";
import * as connection from "../engine/connection.ts";
import { createDamageCheck, type Damage, describeDamage } from "../engine/damage.ts";
import { filesOf, prepareFiles } from "../engine/files.ts";
import { createHeadCheck } from "../engine/overwritten.ts";
import { dialect, transactionsOn } from "../engine/scripts.ts";
import { isServed } from "../engine/serving-lock.ts";
import { createImportWriter } from "../imports.ts";
import { createPetWriter } from "../pets.ts";
import { usageWrites } from "../usage.ts";
import { usageHistoryWrites } from "../usage-history.ts";
import { deliveryWrites } from "../webhooks.ts";

/** The store's writing connection, as the rest of the store calls it: on this thread or another. */
export interface Writer {
  commit(units: readonly Unit[], now: number, withinMs: number): Promise<CommittedHead>;
  call<M extends WriterMethod>(method: M, ...args: WriterArgs<M>): Promise<WriterResult<M>>;
  /** Damage that made the writer reject a write. It checks more often than any other part. */
  findDamage(): Damage | undefined;
  /** False once the writer's thread has ended. Only a new process has a new one. */
  isAlive(): boolean;
  close(): Promise<void>;
}

/**
 * Every method of the writer except `commit`. A method that is added to the writer of a noun is part
 * of it, both on a thread and without one.
 */
type WriterMethods = ReturnType<typeof openWriter>["methods"];
export type WriterMethod = keyof WriterMethods;
export type WriterArgs<M extends WriterMethod> = Parameters<WriterMethods[M]>;
export type WriterResult<M extends WriterMethod> = ReturnType<WriterMethods[M]>;

export type BlockingWriter = ReturnType<typeof openWriter>;

/**
 * How long a write waits while another process holds the write lock. Long enough for an import of a
 * million rows, and shorter than the time after which the server closes an idle connection.
 */
export const busyWaitMs = 8_000;

/** A commit may get the lock this much later than it waits for it. Its caller waits longer still. */
const graceMs = 500;

/** Under load, the next commit begins within this time. */
const recentMs = 2;

const { saveBan, saveUsage } = usageWrites;

/** These wait for the lock, as updates do. A ban must, because a kill before the next try would lose it. */
const awaitedWrites = { ...scriptedWrites(dialect), ...banWrites(dialect), saveBan };

const repeatedWrites = {
  saveUsage,
  ...usageHistoryWrites,
  ...salesWrites,
  ...madePruning,
  ...requestWrites(dialect),
  ...checkpointWrites,
  ...deliveryWrites,
};

/**
 * Opens the writing connection. Its methods block their thread. `isServed` tells whether a service
 * runs on the store; undefined if this is the service.
 */
export function openWriter(file: connection.WrittenFile, isServed?: () => boolean) {
  const database = connection.openForWriting(file, busyWaitMs);
  // The constraints repeat rules that this process has applied before, and cost an update a twentieth.
  // Other programs are still held to them.
  if (!isServed) connection.setPragma(database, "ignore_check_constraints", 1n);
  const files = prepareFiles(file.path);
  const ledger = createLedgerWriter(database, isServed);
  const { loadIdempotency, pruneIdempotency } = ledger;
  const isOverwritten = isServed ? undefined : createHeadCheck(files, database);
  const damage = createDamageCheck(files, ["database", "wal", "walIndex"], isOverwritten);
  const { waitForLock, setQueuedMs } = createLockWait(database);
  /** When the request was sent, by `performance.now()`. Undefined if its caller cannot give up. */
  let sentAt: number | undefined;
  /** When the files were last found in order. */
  let checkedAt = Number.NEGATIVE_INFINITY;

  /**
   * Checks the files before a write is reported, and also before it begins, unless another write has
   * just ended.
   */
  function checked<A extends unknown[], T>(work: (...args: A) => T): (...args: A) => T {
    return connection.guarded((...args) => {
      if (performance.now() - checkedAt > recentMs) assertUndamaged();
      try {
        return work(...args);
      } finally {
        // Also after a failure, which damage may have caused.
        assertUndamaged();
      }
    });
  }

  function assertUndamaged(): void {
    const found = damage.findQuickly();
    checkedAt = found ? Number.NEGATIVE_INFINITY : performance.now();
    if (found) throw unavailable("unwritable", describeDamage(found));
  }

  function waiting<T extends object>(wantedMs: number, methods: T): T {
    return connection.wrapMethods(methods, (method) =>
      checked((...args) => {
        waitForLock(wantedMs);
        return method(...args);
      }),
    );
  }

  function beginEpoch(epoch: string): void {
    ledger.beginEpoch(epoch);
    // From now on the database file itself shows to which run of the service it belongs.
    database.run("PRAGMA wal_checkpoint(PASSIVE)");
  }

  return {
    commit: checked((units: readonly Unit[], now: number, withinMs: number): CommittedHead => {
      waitForLock(withinMs);
      const giveUpAt = (sentAt ?? Number.POSITIVE_INFINITY) + withinMs + graceMs;
      try {
        return ledger.commit(units, now, giveUpAt);
      } catch (error) {
        throw connection.unknownOutcomeOr(error);
      }
    }),
    methods: {
      ...waiting(busyWaitMs, { beginEpoch, loadIdempotency, ...createPetWriter(database, ledger) }),
      ...waiting(busyWaitMs, transactionsOn(database, awaitedWrites)),
      // These are tried again if they fail, so they never make an update wait.
      ...waiting(0, { pruneIdempotency, ...transactionsOn(database, repeatedWrites) }),
      ...waiting(0, createImportWriter(database, ledger)),
      inspect: connection.guarded(assertUndamaged),
      close: () => database.close(),
    },
    findDamage: () => damage.find(),
    /** Call before each request with the time that it waited for others. */
    setQueuedMs(ms: number): void {
      sentAt = performance.now() - ms;
      setQueuedMs(ms);
    },
  };
}

/** Sets how long statements wait for the write lock. */
function createLockWait(database: Database) {
  let waitMs = busyWaitMs;
  let queuedMs = 0;

  return {
    /** Sets it for the next request. Its time in the queue counts too: its client has waited that long. */
    waitForLock(wantedMs: number): void {
      const leftMs = Math.max(0, wantedMs - queuedMs);
      if (leftMs === waitMs) return;
      database.run(`PRAGMA busy_timeout = ${leftMs}`);
      waitMs = leftMs;
    },
    setQueuedMs(ms: number): void {
      // In whole seconds, because every new limit costs a statement.
      queuedMs = Math.max(0, Math.round(ms / 1_000) * 1_000);
    },
  };
}

/** Opens the writing connection on this thread, for a command that has no other work to do. */
export function openInlineWriter(file: connection.WrittenFile): Writer {
  const writer = openWriter(file, () => isServed(filesOf(file.path)));
  return {
    commit: async (...args) => writer.commit(...args),
    call: async (method, ...args) => callMethod(writer, method, args),
    findDamage: writer.findDamage,
    isAlive: () => true,
    close: async () => writer.methods.close(),
  };
}

/**
 * Begins an epoch at every start of the service. A store that was restored from a copy continues with
 * other rows under the same numbers, and a list from before must not pass for one from after.
 */
export async function startEpoch(writer: Writer): Promise<void> {
  try {
    await writer.call("beginEpoch", randomUUID());
  } catch (error) {
    // The service can still read a store on a full disk. The next commit begins the epoch.
    if (!(error instanceof ServiceError && error.code === "unavailable")) throw error;
  }
}

/** Calls the method that a request names. The types of the caller make sure that the arguments fit. */
export function callMethod<M extends WriterMethod>(
  { methods }: BlockingWriter,
  method: M,
  args: WriterArgs<M>,
): WriterResult<M> {
  return (methods[method] as (...args: unknown[]) => WriterResult<M>)(...args);
}
