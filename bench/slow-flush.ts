// Compiles the library that delays flushes to disk. Needs Linux and a C compiler.
import { join } from "node:path";
import { run } from "./processes.ts";

export async function buildSlowFlush(
  directory: string,
): Promise<{ library: string } | { problem: string }> {
  if (process.platform !== "linux") return { problem: "it works only on Linux." };
  if (Bun.which("cc") === null) return { problem: "no C compiler (cc) was found." };
  const library = join(directory, "slow-flush.so");
  const source = join(import.meta.dir, "slow-flush.c");
  await run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"]);
  return { library };
}

/** Returns the environment of a server in which every flush takes this much longer. */
export function slowFlushEnvironment(
  library: string,
  milliseconds: number,
): Record<string, string> {
  return { LD_PRELOAD: library, SLOW_FLUSH_US: String(milliseconds * 1000) };
}
