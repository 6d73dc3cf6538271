// Compiles and runs the load generator for PATCH that is written in C. Needs Linux and a C compiler.
import { join } from "node:path";
import { quantityMax, quantityMin } from "./catalogue.ts";
import { compile } from "./compile.ts";
import { Histogram, type Latency } from "./histogram.ts";
import { CommandError, run } from "./processes.ts";
import type { LoadResult } from "./run-scripts.ts";
import type { Target } from "./scripts.ts";
import type { Work } from "./work.ts";

type PatchWork = Extract<Work, { kind: "patch" }>;

/** The line that the program prints. */
interface Output extends Latency {
  seconds: number;
  cpuSeconds: number;
}

export async function buildPatchLoad(
  directory: string,
): Promise<{ program: string } | { problem: string }> {
  const program = join(directory, "patch-load");
  const problem = await compile("patch-load.c", program, ["-lm"]);
  return problem === undefined ? { program } : { problem };
}

/** Whether the program can do this work, and may. */
export function canRunPatchLoad(work: Work): work is PatchWork {
  if (work.kind !== "patch") return false;
  return work.perSecond === undefined && !work.sendsKeys && !work.isComparedWithOthers;
}

/** Rejects at the first wrong response. */
export async function runPatchLoad(
  program: string,
  { host, port, key }: Target,
  { connections, entries, isRandom }: PatchWork,
  durationMs: number,
): Promise<LoadResult> {
  const quantityShift = Math.floor(Math.random() * (quantityMax - quantityMin + 1));
  const server = [host, port, key];
  const quantities = [quantityMin, quantityMax, quantityShift];
  const fields = [...server, connections, entries, ...quantities, isRandom ? 1 : 0, durationMs];
  // Standard input, because everyone on the machine can read the arguments of a process.
  const output = await run([program], { input: `${fields.join(" ")}\n` }).catch(
    (error: unknown) => {
      throw error instanceof CommandError && error.output !== "" ? new Error(error.output) : error;
    },
  );
  const { seconds, cpuSeconds, ...patch } = JSON.parse(output) as Output;
  return {
    seconds,
    throughput: patch.requests / seconds,
    generatorBusy: cpuSeconds / seconds,
    get: new Histogram().summary(),
    patch,
  };
}
