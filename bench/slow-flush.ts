// Compiles the library that delays flushes to disk. Needs Linux and a C compiler.
import { join } from "node:path";
import { compile } from "./compile.ts";

export async function buildSlowFlush(
  directory: string,
): Promise<{ library: string } | { problem: string }> {
  const library = join(directory, "slow-flush.so");
  const problem = await compile("slow-flush.c", library, ["-shared", "-fPIC", "-ldl"]);
  return problem === undefined ? { library } : { problem };
}

/** Returns the environment of a server in which every flush takes this much longer. */
export function slowFlushEnvironment(
  library: string,
  milliseconds: number,
): Record<string, string> {
  return { LD_PRELOAD: library, SLOW_FLUSH_US: String(milliseconds * 1000) };
}
