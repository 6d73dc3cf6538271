import { write } from "node:fs";

/** Lines of this length together are written at once. Larger writes cost less per line. */
const gatherCharacters = 128 * 1024;

/** How soon a full pipe is tried again. */
const retryMs = 20;

/** How often dropped lines are reported. */
const reportEveryMs = 10_000;

/**
 * Writes text to a file descriptor without making the caller wait. There is one write at a time, on a
 * thread of the runtime: a pipe that nobody reads does not stop the service. Lines that arrive meanwhile
 * wait. What the descriptor refuses, such as lines to a full disk, is dropped. `waitingMax` is the number
 * of characters that may wait. `onDropped` is called with the number of dropped lines, once lines can be
 * written again.
 */
export function createLogWriter(
  fd: number,
  waitingMax: number,
  onDropped: (lines: number) => void,
) {
  let waiting = "";
  let isScheduled = false;
  let isWriting = false;
  let dropped = 0;
  /** How much of `dropped` was reported. */
  let reported = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  /** True if the last line was written in part. The next one begins on a line of its own. */
  let isTorn = false;
  /** Resolve calls of `flush`. */
  const flushing: (() => void)[] = [];

  function schedule(delayMs: number): void {
    if (isScheduled || isWriting) return;
    isScheduled = true;
    setTimeout(start, delayMs).unref();
  }

  function start(): void {
    isScheduled = false;
    if (isWriting) return;
    if (waiting === "") {
      for (const resolve of flushing.splice(0)) resolve();
      return;
    }
    const bytes = Buffer.from(isTorn ? `\n${waiting}` : waiting);
    waiting = "";
    isTorn = false;
    isWriting = true;
    writeFrom(bytes, 0);
  }

  function writeFrom(bytes: Buffer, offset: number): void {
    write(fd, bytes, offset, bytes.length - offset, null, (error, written) => {
      if (error?.code === "EAGAIN") {
        setTimeout(() => writeFrom(bytes, offset), retryMs).unref();
      } else if (error) ended(linesFrom(bytes, offset), offset > 0 && bytes[offset - 1] !== 10);
      else if (offset + written < bytes.length) writeFrom(bytes, offset + written);
      else ended(0, false);
    });
  }

  function ended(lost: number, torn: boolean): void {
    dropped += lost;
    isTorn = torn;
    isWriting = false;
    if (lost === 0) report();
    start();
  }

  function report(): void {
    const now = performance.now();
    if (dropped === reported || now - reportedAt < reportEveryMs) return;
    // The report would be dropped too.
    if (waiting.length > waitingMax / 2) return;
    const lines = dropped - reported;
    reported = dropped;
    reportedAt = now;
    onDropped(lines);
  }

  return {
    /**
     * Adds a line. It is dropped and counted if too much is waiting. Lines that may wait for
     * `gatherMs` share a write, which costs more than the lines it has.
     */
    add(line: string, gatherMs: number): void {
      if (waiting.length + line.length > waitingMax) dropped += 1;
      else waiting += line;
      if (waiting.length < gatherCharacters) schedule(gatherMs);
      else start();
    },
    /** Counts a line that the caller has left out. */
    drop(): void {
      dropped += 1;
    },
    /** Resolves when everything is written or dropped, but after `withinMs` at the latest. */
    async flush(withinMs: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      flushing.push(resolve);
      start();
      const late = setTimeout(resolve, withinMs);
      await promise;
      clearTimeout(late);
    },
    /** Lines that were never written. */
    dropped: () => dropped,
  };
}

/** The number of lines that end after an offset. */
function linesFrom(bytes: Buffer, offset: number): number {
  let lines = 0;
  for (let at = bytes.indexOf(10, offset); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1;
  return lines;
}
