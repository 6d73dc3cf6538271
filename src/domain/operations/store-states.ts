import { type CommittedGroup, slowCommitMs } from "../commits/commits.ts";
import { createCondition, failureDetails, isUnavailable } from "../running/background.ts";
import type { Log } from "../running/events.ts";
import type { UsageStore } from "../usage/usage.ts";

/**
 * Logs when the store is lost, cannot be written or is slow, and when that ends. Requests and
 * background work that fail for the same reason say nothing of their own about the store.
 */
export interface StoreStates {
  /** True while requests fail because of the store. */
  readonly isFailing: boolean;
  /** The head was read, or could not be read. */
  readEnded(error?: unknown): void;
  /** A transaction of updates has ended. */
  groupEnded(group: CommittedGroup): void;
  /** Returns the same store. It reports whether counts and bans could be saved. */
  observeUsage(store: UsageStore): UsageStore;
}

export interface StoreStatesOptions {
  readonly log: Log;
  /** True for a database server, where a failed write may mean that the server is lost. */
  readonly isShared: boolean;
  /** False once the engine itself has logged why no write can succeed. */
  canWrite(): boolean;
  /** A clock that never jumps. */
  readonly monotonicMs?: () => number;
}

/** A small write may succeed on a disk that is full for others. */
const writableQuietMs = 2_000;

/** One fast commit does not mean that the disk is fast again. */
const fastQuietMs = 5_000;

/** Failures of a write that mean that the database server is lost. */
const lostReasons: readonly (string | undefined)[] = [
  "unreachable",
  "unwritable",
  "unknownOutcome",
];

/** Failures of a write that say nothing about the store: a lock was not free in time, or a conflict. */
const passingReasons: readonly (string | undefined)[] = ["rolledBack", "timeout"];

export function createStoreStates(options: StoreStatesOptions): StoreStates {
  const { log, isShared, canWrite, monotonicMs } = options;
  const reachable = createCondition(log, { began: "store lost", ended: "store back" });
  const writable = createCondition(log, {
    began: "store not writable",
    ended: "store writable again",
    quietMs: writableQuietMs,
    monotonicMs,
  });
  const fast = createCondition(log, {
    began: "commits slow",
    ended: "commits fast again",
    quietMs: fastQuietMs,
    monotonicMs,
  });

  function readEnded(error?: unknown): void {
    if (error === undefined) reachable.succeeded();
    // The engine has logged which file is damaged.
    else if (!isUnavailable(error) || error.reason !== "unreadable") {
      reachable.failed(() => failureDetails(error));
    }
  }

  function writeFailed(error: unknown): void {
    if (!isUnavailable(error) || passingReasons.includes(error.reason)) return;
    if (isShared && lostReasons.includes(error.reason)) readEnded(error);
    else if (canWrite()) writable.failed(() => failureDetails(error));
  }

  return {
    get isFailing() {
      return reachable.isFailing || writable.isFailing || !canWrite();
    },
    readEnded,
    groupEnded({ changes, durationMs, error }) {
      if (error !== undefined) return writeFailed(error);
      writable.succeeded();
      if (durationMs <= slowCommitMs) return fast.succeeded();
      fast.failed(() => ({ changes, commitMs: Math.round(durationMs) }));
    },
    observeUsage(store) {
      const observed =
        <A extends unknown[]>(write: (...args: A) => Promise<void>) =>
        async (...args: A) => {
          try {
            await write(...args);
          } catch (error) {
            // Waits for no lock, so it also fails while another process writes.
            if (isUnavailable(error) && error.reason !== "busy") writeFailed(error);
            throw error;
          }
          writable.succeeded();
        };
      return { ...store, saveUsage: observed(store.saveUsage), saveBan: observed(store.saveBan) };
    },
  };
}
