// The benchmark's child processes: starts them, ends all of them when the benchmark exits, and reads
// their memory.
import { readFileSync } from "node:fs";

const running = new Set<Bun.Subprocess>();

process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export interface StartOptions {
  command: string[];
  cwd?: string;
  env?: Record<string, string>;
  uid?: number;
  /** Where its standard error goes. Otherwise it is read, and its end is kept. */
  stderrFile?: string;
  onMessage?: (message: unknown) => void;
}

export interface Child {
  pid: number;
  process: Bun.Subprocess;
  exited: Promise<number>;
  /** The end of its standard error, for the error message if it dies. */
  stderrTail(): string;
}

const stderrTailCharactersMax = 4000;

export function start(options: StartOptions): Child {
  const child = Bun.spawn(options.command, {
    stdin: "ignore",
    stdout: "ignore",
    stderr: options.stderrFile === undefined ? "pipe" : Bun.file(options.stderrFile),
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    ...(options.onMessage === undefined ? {} : { ipc: options.onMessage }),
  });
  running.add(child);
  let tail = "";
  // Always read to the end: a full pipe would block the server.
  const drained = (async () => {
    if (!(child.stderr instanceof ReadableStream)) return;
    const decoder = new TextDecoder();
    for await (const bytes of child.stderr) {
      tail = (tail + decoder.decode(bytes, { stream: true })).slice(-stderrTailCharactersMax);
    }
  })();
  const exited = child.exited.then(async (code) => {
    running.delete(child);
    await drained;
    return code;
  });
  return { pid: child.pid, process: child, exited, stderrTail: () => tail };
}

/** Sends a child the signal, and kills it if it is still running after 10 s. */
export async function stop(child: Child, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  child.process.kill(signal);
  const timer = setTimeout(() => child.process.kill("SIGKILL"), 10_000);
  await child.exited;
  clearTimeout(timer);
}

/** A command that ended with an exit code other than 0. */
export class CommandError extends Error {
  readonly code: number;
  readonly output: string;

  constructor(command: string[], code: number, output: string) {
    super(`${command.join(" ")} failed (${code}): ${output}`);
    this.code = code;
    this.output = output;
  }
}

/** Runs a command to its end and returns its standard output. `input` is its standard input. */
export async function run(
  command: string[],
  options: { cwd?: string; env?: Record<string, string>; uid?: number; input?: string } = {},
): Promise<string> {
  const child = Bun.spawn(command, {
    stdin: options.input === undefined ? "ignore" : new TextEncoder().encode(options.input),
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
  running.add(child);
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  running.delete(child);
  if (code !== 0) throw new CommandError(command, code, (errors || output).trim());
  return output;
}

export interface Memory {
  residentMb: number;
  peakMb: number;
}

/** Reads the memory of a process; undefined without /proc. */
export function memoryOf(pid: number): Memory | undefined {
  const status = readProc(pid, "status");
  if (status === undefined) return undefined;
  const megabytes = (field: string) =>
    Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  return { residentMb: megabytes("VmRSS"), peakMb: megabytes("VmHWM") };
}

/** Reads a file below /proc/PID; undefined if there is no /proc, or no such process or thread. */
export function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}
