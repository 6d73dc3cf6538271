import { expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Subprocess } from "bun";

export const petstore = resolve(import.meta.dir, "../../bin/petstore");

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: Record<string, string>;
  /** What to run instead of bin/petstore: a link to it, a wrapper around it. */
  readonly command?: readonly string[];
}

/** A service in a process of its own. */
export interface Served {
  /** The base address of the API, ending in /v1. */
  readonly baseUrl: string;
  readonly pid: number;
  /** Everything it wrote so far, to standard output and standard error. */
  readonly written: () => string;
  /** Resolves once it has written this; rejects if it ends without. */
  wrote(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  readonly exited: Promise<number>;
}

/** A folder of its own in which the command line is run as an operator would, as a process. */
export interface Place {
  readonly folder: string;
  path(name: string): string;
  run(words: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Runs and expects success; gives what was printed as JSON. */
  json<T = Record<string, unknown>>(...words: string[]): Promise<T>;
  serve(words?: readonly string[], options?: RunOptions): Promise<Served>;
  /** Ends every service still running and removes the folder. */
  leave(): Promise<void>;
}

export function enterPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), "petstore-place-"));
  const running = new Set<Subprocess>();
  // Nothing of the tester's own environment may reach the command: a PORT there would be a setting.
  const environment = { PATH: process.env.PATH ?? "", HOME: folder, TZ: "UTC" };

  const place: Place = {
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
    async json<T>(...words: string[]) {
      const ran = await place.run([...words, "--json"]);
      if (ran.code !== 0) throw new Error(`${words.join(" ")} failed: ${ran.err}`);
      return JSON.parse(ran.out) as T;
    },
    async serve(words = ["serve"], { env = {}, command = [petstore] } = {}) {
      const child = Bun.spawn([...command, ...words, "--port", "0"], {
        cwd: folder,
        env: { ...environment, ...env },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      running.add(child);
      const output = listen(child.stdout, child.stderr);
      const line = await output.find(/is serving at (\S+)/);
      return {
        baseUrl: line[1]!,
        pid: child.pid,
        written: output.written,
        wrote: async (text) => void (await output.find(new RegExp(RegExp.escape(text)))),
        kill: (signal) => child.kill(signal),
        exited: child.exited.finally(() => running.delete(child)),
      };
    },
    async leave() {
      for (const child of running) child.kill("SIGKILL");
      await Promise.all([...running].map((child) => child.exited));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return place;
}

/** Collects what a process writes and wakes whoever waits for a certain text. */
function listen(...streams: ReadableStream<Uint8Array>[]) {
  let written = "";
  let open = streams.length;
  let wake = Promise.withResolvers<void>();
  for (const stream of streams) void collect(stream);

  async function collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) announce(decoder.decode(chunk, { stream: true }));
    open -= 1;
    announce("");
  }

  function announce(text: string): void {
    written += text;
    const woken = wake;
    wake = Promise.withResolvers();
    woken.resolve();
  }

  async function find(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(written);
      if (match) return match;
      if (open === 0) throw new Error(`the process ended without ${pattern}: ${written}`);
      await wake.promise;
    }
  }

  return { written: () => written, find };
}

/** Anything wrong is one plain sentence on standard error and exit code 2. */
export function expectRefused(ran: Ran, sentence: string): void {
  expect(ran.err).toContain(sentence);
  expect(ran.err).toMatch(/^petstore: [^\n]+\n$/);
  expect(ran.err).not.toMatch(/\bat .*:\d+:\d+/);
  expect(ran.out).toBe("");
  expect(ran.code).toBe(2);
}
