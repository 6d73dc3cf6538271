import type { Database } from "bun:sqlite";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { Refusal } from "../../../domain/errors.ts";
import { isServed } from "./claim.ts";
import { createPrivate, type StoreFiles } from "./files.ts";

/**
 * How a serving process learns that another process has written, without asking on every request.
 * A command that has written appends one byte to a file and then waits until the serving process
 * has noted how long the file is. So every request that starts after a command has ended sees what
 * the command wrote, and a request costs nothing for it.
 *
 * The file: the length the serving process has seen (8 bytes), its state (8 bytes), then one byte
 * for every change since it started. It is read and written, never mapped into memory: a mapped
 * file that somebody truncates ends the process.
 */
const headerBytes = 16;

const states = { none: 0n, serving: 1n, damaged: 2n } as const;

interface Header {
  readonly seenBytes: number;
  readonly state: bigint;
}

function openFile({ changes }: StoreFiles): number {
  createPrivate(changes);
  return openSync(changes, constants.O_RDWR);
}

function writeHeader(handle: number, seenBytes: number, state: bigint): void {
  writeSync(handle, new BigUint64Array([BigInt(seenBytes), state]), 0, headerBytes, 0);
}

function readHeader(handle: number): Header {
  const header = new BigUint64Array(2);
  readSync(handle, header, 0, headerBytes, 0);
  return { seenBytes: Number(header[0]), state: header[1]! };
}

/** The serving process's end. */
export interface ChangeReceiver {
  /** Another number after anybody has written, as far as is known. Costs nothing. */
  version(): number;
  /** Somebody in this process has written, or what was known must not be trusted any more. */
  advance(): void;
  /** Asks the engine and the file. To be called several times a second. */
  poll(): void;
  /** Tells commands that this process no longer takes part in the store. */
  reportDamage(): void;
  close(): void;
}

/** `PRAGMA data_version` also reveals foreign programs, and commands that were killed too early. */
export function receiveChanges(database: Database, files: StoreFiles): ChangeReceiver {
  const handle = openFile(files);
  ftruncateSync(handle, 0);
  let seenBytes = headerBytes;
  writeHeader(handle, seenBytes, states.serving);
  const dataVersion = database.query("PRAGMA data_version");
  const askEngine = () => Number((dataVersion.values()[0] as unknown[])[0]);
  let engineVersion = askEngine();
  let version = 0;

  return {
    version: () => version,
    advance() {
      version += 1;
    },
    poll() {
      // The file first: what was written before a byte was appended is seen by the engine after.
      const { size } = fstatSync(handle);
      const found = askEngine();
      if (found !== engineVersion || size > seenBytes) version += 1;
      engineVersion = found;
      if (size <= seenBytes) return;
      seenBytes = size;
      writeHeader(handle, seenBytes, states.serving);
    },
    reportDamage() {
      writeHeader(handle, seenBytes, states.damaged);
      // Commands find the file by its name, under which there may be another by now, or none.
      const named = openFile(files);
      writeHeader(named, seenBytes, states.damaged);
      closeSync(named);
    },
    close() {
      // Not if it was damaged: commands go on being refused until this process has ended.
      if (readHeader(handle).state === states.serving) writeHeader(handle, seenBytes, states.none);
      closeSync(handle);
    },
  };
}

/** Refuses if the store is served by a process that has found its files damaged. */
export function assertUndamaged(files: StoreFiles): void {
  if (!existsSync(files.changes)) return;
  const handle = openSync(files.changes, constants.O_RDONLY);
  try {
    refuseIfDamaged(handle, files);
  } finally {
    closeSync(handle);
  }
}

function refuseIfDamaged(handle: number, files: StoreFiles): void {
  if (readHeader(handle).state === states.damaged && isServed(files)) throw damaged();
}

/** A command's end. */
export interface ChangeSender {
  /** As `assertUndamaged`. */
  assertUndamaged(): void;
  /** Tells the serving process of a change, and waits until it has seen it. */
  send(): Promise<void>;
  close(): void;
}

const pollEveryMs = 5;
/** A process that was killed does not answer; asking whether one is alive costs a lock. */
const probeEveryMs = 250;
const answerMs = 10_000;

export function sendChanges(files: StoreFiles): ChangeSender {
  const handle = openFile(files);
  const appending = openSync(files.changes, constants.O_WRONLY | constants.O_APPEND);

  /** True once nobody is left who would have to see the change. */
  function isSeen(size: number): boolean {
    const { seenBytes, state } = readHeader(handle);
    if (state === states.damaged) {
      refuseIfDamaged(handle, files);
      return true;
    }
    // A file that became shorter belongs to a process that started after the change.
    return state !== states.serving || seenBytes >= size || fstatSync(handle).size < size;
  }

  return {
    assertUndamaged: () => refuseIfDamaged(handle, files),
    async send() {
      try {
        writeSync(appending, new Uint8Array(1));
      } catch {
        // No room on the disk for one byte: the serving process asks the engine soon.
        return;
      }
      const { size } = fstatSync(handle);
      const begun = performance.now();
      let probeAt = begun + probeEveryMs;
      while (!isSeen(size)) {
        const now = performance.now();
        if (now > probeAt) {
          if (!isServed(files)) return;
          probeAt = now + probeEveryMs;
        }
        if (now - begun > answerMs) throw unseen();
        await Bun.sleep(pollEveryMs);
      }
    },
    close() {
      closeSync(handle);
      closeSync(appending);
    },
  };
}

function damaged(): Refusal {
  return new Refusal(
    "unavailable",
    "the process that serves this store has found its files damaged: restart that process first",
  );
}

function unseen(): Refusal {
  return new Refusal(
    "unavailable",
    "the change is stored, but the process that serves this store has not seen it: restart that process",
  );
}
