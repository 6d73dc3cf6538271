// Runs the command line and the service as processes, in a temporary folder.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Subprocess } from "bun";
import { type HereOptions, runHere } from "./commands.ts";

/** `npm run survive -- --release` runs the program of another version. */
export const petstore =
  process.env.SURVIVE_PROGRAM ?? resolve(import.meta.dir, "../../bin/petstore");

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: Record<string, string>;
  /** The command to run instead of bin/petstore, for example a link to it or a wrapper. */
  readonly command?: readonly string[];
}

/** A command that runs as a separate process until it is stopped. */
export interface Started {
  readonly pid: number;
  /** Returns all its output so far, from standard output and standard error. */
  readonly written: () => string;
  /** Resolves when the output contains this text. Rejects if the process ends before. */
  wrote(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  readonly exited: Promise<number>;
}

/** Sends a signal until the process ends. Soon after the first one, it takes others for the same one. */
export async function signalUntilEnd({ kill, exited }: Started, signal: NodeJS.Signals) {
  const ended = exited.then(() => true);
  while (!(await Promise.race([ended, Bun.sleep(50).then(() => false)]))) kill(signal);
  return exited;
}

/** A service that runs as a separate process. */
export interface Served extends Started {
  /** The base URL of the API. It ends in /v1. */
  readonly baseUrl: string;
}

/** A temporary folder in which the command line runs as a process, as an operator runs it. */
export interface Workspace {
  readonly folder: string;
  path(name: string): string;
  run(words: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Same as `run`, in the process of the tests. See `runHere` for what that is not for. */
  runHere(words: readonly string[], options?: HereOptions): Promise<Ran>;
  /** `runHere` with --json, which returns the parsed output. Rejects if the command fails. */
  json<T = Record<string, unknown>>(...words: string[]): Promise<T>;
  start(words: readonly string[], options?: RunOptions): Started;
  serve(words?: readonly string[], options?: RunOptions): Promise<Served>;
  /** Kills all processes that still run and removes the folder. */
  leave(): Promise<void>;
}

/** `variables` are set for every command. */
export function openWorkspace(variables: Record<string, string> = {}): Workspace {
  const folder = mkdtempSync(join(tmpdir(), "petstore-workspace-"));
  const running = new Set<Subprocess>();
  // The command does not inherit the environment of the tests: a PORT in it would be a setting.
  const environment = { PATH: process.env.PATH ?? "", HOME: folder, TZ: "UTC", ...variables };

  function started(words: readonly string[], { env = {}, command = [petstore] }: RunOptions = {}) {
    const child = Bun.spawn([...command, ...words], {
      cwd: folder,
      env: { ...environment, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    running.add(child);
    const output = collectOutput(child.stdout, child.stderr);
    const process: Started = {
      pid: child.pid,
      written: output.written,
      wrote: async (text) => void (await output.find(new RegExp(RegExp.escape(text)))),
      kill: (signal) => child.kill(signal),
      exited: child.exited.finally(() => running.delete(child)),
    };
    return { output, process };
  }

  const workspace: Workspace = {
    folder,
    path: (name) => join(folder, name),
    async run(words, { stdin = "", env = {}, command = [petstore] } = {}) {
      const child = Bun.spawn([...command, ...words], {
        cwd: folder,
        env: { ...environment, ...env },
        stdin: typeof stdin === "string" ? Buffer.from(stdin) : stdin,
        stdout: "pipe",
        stderr: "pipe",
      });
      running.add(child);
      const [out, err, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      running.delete(child);
      return { code, out, err };
    },
    runHere: (words, { env, ...options } = {}) =>
      runHere(words, { folder, ...options, env: { ...variables, ...env } }),
    async json<T>(...words: string[]) {
      const ran = await workspace.runHere([...words, "--json"]);
      if (ran.code !== 0) throw new Error(`${words.join(" ")} failed: ${ran.err}`);
      return JSON.parse(ran.out) as T;
    },
    start: (words, options) => started(words, options).process,
    async serve(words = ["serve"], options) {
      const { output, process } = started([...words, "--port", "0"], options);
      const line = await output.find(/is serving at (\S+)/);
      return { ...process, baseUrl: line[1]! };
    },
    async leave() {
      for (const child of running) child.kill("SIGKILL");
      await Promise.all([...running].map((child) => child.exited));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return workspace;
}

/** Collects the output of a process. `find` waits until the output matches a pattern. */
function collectOutput(...streams: ReadableStream<Uint8Array>[]) {
  let written = "";
  let openStreams = streams.length;
  let changed = Promise.withResolvers<void>();
  for (const stream of streams) void collect(stream);

  async function collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) append(decoder.decode(chunk, { stream: true }));
    openStreams -= 1;
    append("");
  }

  function append(text: string): void {
    written += text;
    // Whatever the test finds, this says why.
    if (text.includes('"event":"bug"')) console.error(text);
    const waiting = changed;
    changed = Promise.withResolvers();
    waiting.resolve();
  }

  async function find(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(written);
      if (match) return match;
      if (openStreams === 0)
        throw new Error(`the process ended before its output matched ${pattern}: ${written}`);
      await changed.promise;
    }
  }

  return { written: () => written, find };
}
