import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** How this program is started. */
export interface Program {
  /** The executable and the arguments before the name of a command. */
  readonly command: readonly string[];
  /** Its environment, in which the store is set: arguments would show a password to other users. */
  readonly variables: NodeJS.ProcessEnv;
}

/** How long a process that was asked to end may take. */
const endMs = 3_000;

/**
 * Runs a command of this program as a process with low priority, so that requests come first.
 * Returns what it wrote to standard output. Rejects with the last line of standard error.
 */
export async function runCommand(
  { command: [executable, ...first], variables }: Program,
  words: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const child = spawn(executable!, [...first, ...words], {
    env: variables,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = [collect(child.stdout), collect(child.stderr)] as const;
  const ended = once(child, "close");
  if (child.pid !== undefined) lowerPriority(child.pid);
  if (!signal.aborted) await Promise.race([ended, once(signal, "abort")]);
  if (signal.aborted) {
    child.kill("SIGTERM");
    const late = sleep(endMs, "late" as const, { ref: false });
    if ((await Promise.race([ended, late])) === "late") child.kill("SIGKILL");
  }
  const [code, killedBy] = (await ended) as [number | null, string | null];
  const [out, err] = await Promise.all(output);
  if (code === 0) return out;
  if (signal.aborted) throw new Error("it took too long");
  throw new Error(lastLine(err) || `the process ended with ${killedBy ?? `exit code ${code}`}`);
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already.
  }
}

const outputCharactersMax = 64 * 1024;

async function collect(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of stream) text = (text + chunk).slice(-outputCharactersMax);
  return text;
}

/** Without the name of the program, with which errors of commands start. */
function lastLine(text: string): string {
  return text
    .trim()
    .split("\n")
    .at(-1)!
    .replace(/^petstore: /, "");
}
