import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { ServiceError } from "../../../domain/running/errors.ts";
import { createDataVersionReader } from "./connection.ts";
import { createPrivate, type StoreFiles } from "./files.ts";
import { createMarkReader, headerBytes, stateBytes, writeMark } from "./mark.ts";
import { isServed } from "./serving-lock.ts";

/**
 * Notifies the serving process when another process has written, so that no request has to query
 * SQLite for it. A command that has written appends one byte to a file and waits until the serving
 * process has recorded the new length. Every request that starts after a command has ended therefore
 * sees what the command wrote, at no cost per request. A command that waits in vain says so.
 *
 * The file contains the length that the serving process has seen (8 bytes), its state (8 bytes), the
 * mark of the store, and one byte for every change since the process started. It is read and written,
 * never mapped into memory: truncating a mapped file ends every process that maps it.
 */
const states = { none: 0n, serving: 1n, damaged: 2n } as const;

function openFile({ changes }: StoreFiles, flags = 0): number {
  createPrivate(changes);
  return fs.openSync(changes, fs.constants.O_RDWR | flags);
}

function writeState(handle: number, seenBytes: number, state: bigint): void {
  fs.writeSync(handle, new BigUint64Array([BigInt(seenBytes), state]), 0, stateBytes, 0);
}

function readState(handle: number) {
  const found = new BigUint64Array(2);
  fs.readSync(handle, found, 0, stateBytes, 0);
  return { seenBytes: Number(found[0]), state: found[1] };
}

export type ChangeReceiver = ReturnType<typeof createChangeReceiver>;

/**
 * The serving process's side of the file, which it creates. SQLite's data version is polled too: it also
 * shows writes by other programs, and by commands that were killed before they appended their byte.
 */
export function createChangeReceiver(database: Database, files: StoreFiles) {
  const handle = openFile(files);
  fs.ftruncateSync(handle, headerBytes);
  let seenBytes = headerBytes;
  writeState(handle, seenBytes, states.serving);
  const readMark = createMarkReader(database);
  let [markedSeq, marked] = [-1, ""];
  const dataVersion = createDataVersionReader(database);
  let lastDataVersion = dataVersion();
  let version = 0;

  return {
    /** Changes when any process has written, as of the last poll. Costs nothing. */
    version: () => version,
    /** Changes the version, because this process has written or its cached state is invalid. */
    advance(): void {
      version += 1;
    },
    /** Checks SQLite and the file. Must be called several times a second. */
    poll(): void {
      // The file first: SQLite then shows everything that was written before the last byte.
      const { size } = fs.fstatSync(handle);
      const found = dataVersion();
      if (found !== lastDataVersion || size > seenBytes) version += 1;
      lastDataVersion = found;
      if (size <= seenBytes) return;
      // If this fails, the next poll tries again: a command waits for it.
      writeState(handle, size, states.serving);
      seenBytes = size;
    },
    /** Writes the mark if the store has new rows. If an older copy took its place, the mark stays. */
    mark(): void {
      const [seq, found] = readMark();
      // A write would give a truncated file its length again, and hide the damage from the inspection.
      if (seq <= markedSeq || fs.fstatSync(handle).size < headerBytes) return;
      writeMark(handle, found);
      [markedSeq, marked] = [seq, found];
    },
    /** Notifies commands that this process can no longer write to the store. */
    reportDamage(): void {
      writeState(handle, seenBytes, states.damaged);
      // Commands open the file by name. That may be another file by now, or none.
      const named = openFile(files);
      writeState(named, seenBytes, states.damaged);
      writeMark(named, marked);
      fs.closeSync(named);
    },
    close(): void {
      // After damage the state stays, so commands are rejected until this process has ended.
      if (readState(handle).state === states.serving) writeState(handle, seenBytes, states.none);
      fs.closeSync(handle);
    },
  };
}

/** Throws if the store is served by a process that has found its files damaged. */
export function assertUndamaged(files: StoreFiles): void {
  if (!fs.existsSync(files.changes)) return;
  const handle = fs.openSync(files.changes, fs.constants.O_RDONLY);
  try {
    throwIfDamaged(handle, files);
  } finally {
    fs.closeSync(handle);
  }
}

function throwIfDamaged(handle: number, files: StoreFiles): void {
  if (readState(handle).state === states.damaged && isServed(files)) throw damagedError();
}

const pollEveryMs = 5;
/** How often the sender checks that the serving process is alive, which costs a lock. */
const aliveCheckEveryMs = 250;
const responseMsMax = 10_000;

/**
 * A command's side of the file. `onUnseen` is called if the serving process does not respond: it hangs, or
 * cannot write to the file. The change is stored, and the process sees it once it polls again.
 */
export function createChangeSender(files: StoreFiles, onUnseen: () => void) {
  const handle = openFile(files, fs.constants.O_APPEND);

  /** True once no process has to see the change any more. */
  function isSeen(size: number): boolean {
    throwIfDamaged(handle, files);
    const { seenBytes, state } = readState(handle);
    // If the file became shorter, a process has started to serve after the change.
    return state !== states.serving || seenBytes >= size || fs.fstatSync(handle).size < size;
  }

  return {
    /** Throws if the store is served by a process that has found its files damaged. */
    assertUndamaged: () => throwIfDamaged(handle, files),
    /** Notifies the serving process of a change and waits until it has seen the change, up to 10 s. */
    async send(): Promise<void> {
      try {
        fs.writeSync(handle, new Uint8Array(1));
      } catch {
        // No disk space for one byte. The serving process polls SQLite's data version too.
        return;
      }
      const { size } = fs.fstatSync(handle);
      const startedAt = performance.now();
      let checkAliveAt = startedAt + aliveCheckEveryMs;
      while (!isSeen(size)) {
        const now = performance.now();
        if (now > checkAliveAt) {
          if (!isServed(files)) return;
          checkAliveAt = now + aliveCheckEveryMs;
        }
        if (now - startedAt > responseMsMax) return onUnseen();
        await Bun.sleep(pollEveryMs);
      }
    },
    /** Writes the mark of a store that no process serves. A serving process does it itself. */
    mark(database: Database): void {
      if (isServed(files)) return;
      // Without O_APPEND, which ignores the position.
      const own = openFile(files);
      try {
        writeMark(own, createMarkReader(database)()[1]);
      } catch {
        // A full disk. The mark stays as it is.
      } finally {
        fs.closeSync(own);
      }
    },
    close: () => fs.closeSync(handle),
  };
}

function damagedError(): ServiceError {
  return new ServiceError(
    "unavailable",
    "the process that serves this store has found its files damaged; its log says what to do",
  );
}
