import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** Why nothing can be run if the service does not know how it was started. */
export const withoutProgram = "this service cannot run its own commands";

/** How this program is started. */
export interface Program {
  /** The executable and the arguments before the name of a command. */
  readonly command: readonly string[];
  /** Its environment, in which the store is set: arguments would show a password to other users. */
  readonly variables: NodeJS.ProcessEnv;
}

/** How a process has ended. */
export interface Ended {
  /** The last line of standard error. */
  readonly lastLine: string;
  /** The exit code, or the signal that ended the process. */
  readonly ended: number | string;
}

/** What a command wrote, and how it ended. */
export interface CommandResult extends Ended {
  readonly out: string;
}

/** How long a process that was asked to end may take. */
const endMs = 3_000;

/** Of a longer output, the end is kept. */
const outputCharactersMax = 64 * 1024;

/**
 * Runs a command of this program as a process with low priority, so that requests come first. Resolves
 * when the process has ended, however it ended.
 */
export async function runCommand(
  { command: [executable, ...first], variables }: Program,
  words: readonly string[],
  signal: AbortSignal,
): Promise<CommandResult> {
  const child = spawn(executable!, [...first, ...words], {
    env: variables,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const out = collect(child.stdout!);
  return { ...(await untilEnded(child, signal)), out: await out };
}

/** Gives a process low priority, and asks it to end when the signal aborts. Resolves when it has ended. */
export async function untilEnded(child: ChildProcess, signal: AbortSignal): Promise<Ended> {
  const err = collect(child.stderr!);
  const closed = once(child, "close");
  if (child.pid !== undefined) lowerPriority(child.pid);
  if (!signal.aborted) await Promise.race([closed, once(signal, "abort")]);
  if (signal.aborted) {
    child.kill("SIGTERM");
    const late = sleep(endMs, "late" as const, { ref: false });
    if ((await Promise.race([closed, late])) === "late") child.kill("SIGKILL");
  }
  const [code, killedBy] = (await closed) as [number | null, string | null];
  return { lastLine: lastLineOf(await err), ended: code ?? killedBy ?? "an unknown signal" };
}

/**
 * Runs a command of the operator with a shell. Resolves if it succeeds. Neither the command nor its output is
 * in an error: both may have passwords.
 */
export async function runShell(command: string, signal: AbortSignal): Promise<void> {
  // A process group, so that nothing that the command has started stays when it takes too long.
  const child = spawn("/bin/sh", ["-c", command], { stdio: "ignore", detached: true });
  const end = () => {
    try {
      process.kill(-child.pid!, "SIGKILL");
    } catch {
      // It has ended already.
    }
  };
  signal.addEventListener("abort", end);
  try {
    const [code, killedBy] = (await once(child, "exit")) as [number | null, string | null];
    if (code === 0) return;
    if (signal.aborted) throw new Error("the check took too long");
    throw new Error(`the command ended with ${killedBy ?? `exit code ${code}`}`);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** Why a command failed. */
export function failureOf({ lastLine, ended }: Ended, signal: AbortSignal): Error {
  if (signal.aborted) return new Error("it took too long");
  // A process that has crashed, for example without memory, does not say why in its last line.
  if (typeof ended === "string") return new Error(`the process ended with ${ended}`);
  return new Error(lastLine || `the process ended with exit code ${ended}`);
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already.
  }
}

async function collect(stream: Readable): Promise<string> {
  stream.setEncoding("utf8");
  let text = "";
  for await (const chunk of stream) text = (text + chunk).slice(-outputCharactersMax);
  return text;
}

/** Without the name of the program, with which errors of commands start. */
function lastLineOf(text: string): string {
  return text
    .trim()
    .split("\n")
    .at(-1)!
    .replace(/^petstore: /, "");
}
