// Records the system calls of a command, and makes one fail, with strace where there is one.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { petstore, type Ran, type Workspace } from "./process.ts";

/** False where strace is not installed, or may not trace. */
export const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;

export interface Traced extends Ran {
  /** The calls that write or flush, in order, each with the full path of its file. */
  readonly calls: readonly { readonly name: string; readonly file: string }[];
}

/** Runs a command as a process. `fault` is an `inject` expression of strace. */
export async function runTraced(
  place: Workspace,
  words: readonly string[],
  fault?: { readonly path: string; readonly inject: string },
): Promise<Traced> {
  const trace = place.path("trace");
  const command = ["strace", "-f", "-y", "-o", trace, "-e", "trace=pwrite64,fsync,fdatasync"];
  if (fault) command.push("-P", fault.path, "-e", `inject=${fault.inject}`);
  const ran = await place.run(words, { command: [...command, petstore] });
  const lines = readFileSync(trace, "utf8").split("\n");
  const calls = lines.flatMap((line) => {
    const [, name, file] = /^\d+ +(\w+)\(\d+<([^>]+)>/.exec(line) ?? [];
    return name && file ? [{ name: name === "fdatasync" ? "fsync" : name, file }] : [];
  });
  return { ...ran, calls };
}
