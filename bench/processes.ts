// The benchmark's child processes: started here, measured here, and ended here whatever happens.
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
  onMessage?: (message: unknown) => void;
}

/** A child whose last words on standard error are kept, to be shown if it dies. */
export interface Child {
  pid: number;
  process: Bun.Subprocess;
  exited: Promise<number>;
  lastWords(): string;
}

const lastWordsCharactersMax = 4000;

export function start(options: StartOptions): Child {
  const child = Bun.spawn(options.command, {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    ...(options.onMessage === undefined ? {} : { ipc: options.onMessage }),
  });
  running.add(child);
  let words = "";
  // Read to the end even if nobody asks: a full pipe would stop a server in mid-sentence.
  const drained = (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of child.stderr) {
      words = (words + decoder.decode(bytes, { stream: true })).slice(-lastWordsCharactersMax);
    }
  })();
  const exited = child.exited.then(async (code) => {
    running.delete(child);
    await drained;
    return code;
  });
  return { pid: child.pid, process: child, exited, lastWords: () => words };
}

/** Asks a child to end, and makes it after a while. */
export async function stop(child: Child, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  child.process.kill(signal);
  const timer = setTimeout(() => child.process.kill("SIGKILL"), 10_000);
  await child.exited;
  clearTimeout(timer);
}

/** A command that ended with another code than 0. */
export class CommandError extends Error {
  readonly code: number;
  readonly output: string;

  constructor(command: string[], code: number, output: string) {
    super(`${command.join(" ")} failed (${code}): ${output}`);
    this.code = code;
    this.output = output;
  }
}

/** Runs a command to its end and returns what it printed. */
export async function run(
  command: string[],
  options: { cwd?: string; env?: Record<string, string>; uid?: number } = {},
): Promise<string> {
  const child = Bun.spawn(command, {
    stdin: "ignore",
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

// Linux counts processor time in hundredths of a second whatever the kernel's own tick is.
const ticksPerSecond = 100;

/** Processor seconds a process has used in all its threads; undefined where there is no /proc. */
export function cpuSeconds(pid: number): number | undefined {
  const stat = readProc(pid, "stat");
  if (stat === undefined) return undefined;
  // The name in parentheses may hold spaces, so fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

export interface Memory {
  residentMb: number;
  peakMb: number;
}

export function memoryOf(pid: number): Memory | undefined {
  const status = readProc(pid, "status");
  const megabytes = (field: string) =>
    Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status ?? "")?.[1]) / 1024;
  if (status === undefined) return undefined;
  return { residentMb: megabytes("VmRSS"), peakMb: megabytes("VmHWM") };
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}
