// Compiles the library that slows flushes down, where there is a compiler and a loader that
// preloads.
import { join } from "node:path";
import { run } from "./processes.ts";

export async function buildSlowFlush(
  directory: string,
): Promise<{ library: string } | { problem: string }> {
  if (process.platform !== "linux") return { problem: "preloading is done on Linux only." };
  if (Bun.which("cc") === null) return { problem: "there is no C compiler (cc)." };
  const library = join(directory, "slow-flush.so");
  const source = join(import.meta.dir, "slow-flush.c");
  await run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"]);
  return { library };
}

/** The environment of a server whose every flush takes longer by so much. */
export function slowed(library: string, milliseconds: number): Record<string, string> {
  return { LD_PRELOAD: library, SLOW_FLUSH_US: String(milliseconds * 1000) };
}
