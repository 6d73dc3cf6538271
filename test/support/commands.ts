// Runs commands in the process of the tests, where no process is under test.
import { Readable } from "node:stream";
import { unwatchSignals } from "../../src/cli/interruption.ts";
import { messageOf, run } from "../../src/cli/run.ts";
import { printError } from "../../src/output.ts";
import type { Ran, RunOptions } from "./process.ts";

export interface HereOptions extends Omit<RunOptions, "command"> {
  /** The folder that the command runs in. That of the tests unless given. */
  readonly folder?: string;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command as src/main.ts does, and returns what it printed and its exit code. A process would take
 * a tenth of a second of processor time. Not for a command that serves, that a signal ends, or that must
 * find a lock of this process taken. Some commands of each kind run as processes too, because only a
 * process shows that it ends.
 */
export function runHere(words: readonly string[], options: HereOptions = {}): Promise<Ran> {
  // One after another, because they share the streams, the folder and the variables of this process.
  const running = last.then(() => runAlone(words, options));
  last = running.catch(() => {});
  return running;
}

/** Runs a command with --json and returns the parsed output. Rejects if the command fails. */
export async function jsonHere<T = Record<string, unknown>>(...words: string[]): Promise<T> {
  const { code, out, err } = await runHere([...words, "--json"]);
  if (code !== 0) throw new Error(`${words.join(" ")} failed: ${err}`);
  return JSON.parse(out) as T;
}

async function runAlone(
  words: readonly string[],
  { folder = process.cwd(), env = {}, stdin = "" }: HereOptions,
): Promise<Ran> {
  using _folder = inFolder(folder);
  using _variables = withVariables({ TZ: "UTC", ...env });
  using _input = withInput(Readable.from([Buffer.from(stdin as string)]));
  using out = collect(process.stdout);
  using err = collect(process.stderr);
  let code = 2;
  try {
    code = await run(words);
  } catch (error) {
    printError(messageOf(error));
  } finally {
    unwatchSignals();
  }
  return { code, out: out.written(), err: err.written() };
}

function inFolder(folder: string): Disposable {
  const before = process.cwd();
  process.chdir(folder);
  return { [Symbol.dispose]: () => process.chdir(before) };
}

function withVariables(variables: Record<string, string>): Disposable {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  return {
    [Symbol.dispose]() {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    },
  };
}

function withInput(input: Readable): Disposable {
  const before = Object.getOwnPropertyDescriptor(process, "stdin")!;
  Object.defineProperty(process, "stdin", { configurable: true, value: input });
  return { [Symbol.dispose]: () => void Object.defineProperty(process, "stdin", before) };
}

/** Takes what is written to a stream. */
function collect(stream: NodeJS.WriteStream): Disposable & { written(): string } {
  const chunks: Uint8Array[] = [];
  const { write } = stream;
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    chunks.push(Buffer.from(chunk as string));
    const done = rest.find((one) => typeof one === "function");
    if (done) queueMicrotask(done as () => void);
    return true;
  };
  return {
    written: () => Buffer.concat(chunks).toString(),
    [Symbol.dispose]: () => {
      stream.write = write;
    },
  };
}
