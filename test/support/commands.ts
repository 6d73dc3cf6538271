// Runs commands in the process of the tests, where no process is under test.
import { parseArguments } from "../../src/cli/flags.ts";
import { findCommand } from "../../src/cli/run.ts";
import type { Ran } from "./process.ts";

/**
 * Runs a command and returns what it printed. Rejects where the command would print an error and end
 * with exit code 2. Files are relative to the folder of the tests, so `words` should name whole paths
 * and the database.
 */
export async function runHere(words: readonly string[]): Promise<Ran> {
  const command = findCommand(words);
  if (!command) throw new Error(`there is no command ${words.join(" ")}`);
  const input = parseArguments(command, words.slice(command.name.split(" ").length));
  const streams = { out: collect(process.stdout), err: collect(process.stderr) };
  try {
    const code = await command.run(input);
    return { code, out: streams.out.written(), err: streams.err.written() };
  } finally {
    for (const stream of Object.values(streams)) stream.release();
  }
}

/** Runs a command with --json and returns the parsed output. Rejects if the command fails. */
export async function jsonHere<T = Record<string, unknown>>(...words: string[]): Promise<T> {
  const { code, out, err } = await runHere([...words, "--json"]);
  if (code !== 0) throw new Error(`${words.join(" ")} failed: ${err}`);
  return JSON.parse(out) as T;
}

/** Takes what is written to a stream, until it is released. */
function collect(stream: NodeJS.WriteStream) {
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
    release: () => {
      stream.write = write;
    },
  };
}
