import { exitCodeOf } from "./cli/exit-codes.ts";
import { clearProgress } from "./cli/progress.ts";
import { messageOf, run } from "./cli/run.ts";
import { reasonOf } from "./file-errors.ts";
import { currentLog, flushProcessLog } from "./log.ts";
import { work } from "./long-work/worker.ts";
import { printError, ReaderGone } from "./output.ts";

let isReported = false;

/**
 * Prints the first error as one line and sets exit code 2. Operators do not see stack traces. A
 * reader that has read enough is no error: the command ends quietly, as if by SIGPIPE.
 */
function report(error: unknown): void {
  if (isReported) return;
  isReported = true;
  clearProgress();
  if (error instanceof ReaderGone) {
    process.exitCode = exitCodeOf("SIGPIPE");
    return;
  }
  printError(messageOf(error));
  process.exitCode = 2;
}

/** Logs an error that was not caught. The runtime would print database addresses with it. */
function crash(error: unknown): void {
  const log = currentLog();
  log("crash", { error: error instanceof Error ? error.stack : String(error) });
  void log.flush().finally(() => process.exit(1));
}

process.on("uncaughtException", crash);
process.on("unhandledRejection", crash);

// A write to a full disk, or to a pipe that its reader has closed, fails after the call has returned.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  report(error.code === "EPIPE" ? new ReaderGone() : `cannot write to stdout: ${reasonOf(error)}`);
});

// If nobody reads the messages, the exit code still tells.
process.stderr.on("error", () => {});

try {
  const words = process.argv.slice(2);
  // Not a command: the service starts it, and sends it its work.
  const isWork = words[0] === "work" && process.connected;
  const code = await (isWork ? work() : run(words));
  if (!isReported) process.exitCode = code;
} catch (error) {
  // What the log says about the failure comes first.
  await flushProcessLog();
  report(error);
}
