// Compiles the C programs of the benchmark. Needs Linux and a C compiler.
import { join } from "node:path";
import { run } from "./processes.ts";

/** Compiles a file of this directory. Returns why that is impossible, or undefined. */
export async function compile(
  source: string,
  output: string,
  flags: readonly string[],
): Promise<string | undefined> {
  if (process.platform !== "linux") return "it works only on Linux.";
  if (Bun.which("cc") === null) return "no C compiler (cc) was found.";
  try {
    await run(["cc", "-O2", "-o", output, join(import.meta.dir, source), ...flags]);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
