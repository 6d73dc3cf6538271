import type { Database } from "bun:sqlite";
import { closeSync, constants, fstatSync, openSync, realpathSync, writeSync } from "node:fs";

/**
 * Tells that somebody has written to the file. `PRAGMA data_version` knows, but costs a sixth of a
 * short request. So every process that writes through this store rings a bell before it calls its
 * work done: it puts a new number into a few bytes of memory that all processes on the file share.
 * Reading them costs nothing.
 *
 * A writer that is killed between its commit and the bell, or a foreign program, rings none; for
 * those a serving process also asks the engine several times a second.
 */
export interface Changes {
  /** A number that is another one after anybody has written. */
  mark(): number;
  /** Somebody in this process has written. */
  announce(): void;
  close(): void;
}

const askEveryMs = 50;

export function watchChanges(database: Database, path: string, isServing: boolean): Changes {
  const bell = openBell(path);
  const dataVersion = database.query("PRAGMA data_version");
  const ask = () => Number((dataVersion.values()[0] as unknown[])[0]);
  let version = ask();
  const timer = isServing
    ? setInterval(() => {
        version = ask();
      }, askEveryMs)
    : undefined;
  timer?.unref();

  return {
    // Both in one number, which stays exact: the engine's version would have to pass two million.
    mark: () => (isServing ? version : ask()) * 2 ** 32 + bell.heard(),
    announce: bell.ring,
    close() {
      clearInterval(timer);
      bell.close();
    },
  };
}

/** The memory beside the file, the same for everyone however they came to its name. */
function openBell(path: string) {
  const file = `${realpathSync(path)}-bell`;
  const handle = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o644);
  const number = new Uint32Array(1);
  // Room on the disk is taken now, and numbers are written, not stored through the memory: where
  // the disk is full, a store into memory that has no room yet would end the process.
  if (fstatSync(handle).size < number.byteLength) writeSync(handle, number, 0, 4, 0);
  const bytes = Bun.mmap(file, { shared: true });
  const memory = new Uint32Array(bytes.buffer, bytes.byteOffset, 1);

  return {
    heard: () => memory[0]!,
    ring(): void {
      // Random, not counted up: two processes that ring at once must not ring the same number.
      number[0] = Math.random() * 2 ** 32;
      try {
        writeSync(handle, number, 0, 4, 0);
      } catch {
        // What was written is in the file all the same: whoever serves asks the engine soon.
      }
    },
    close: () => closeSync(handle),
  };
}
