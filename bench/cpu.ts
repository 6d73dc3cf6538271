// Reads the CPU time of a process from Linux's /proc.
import { readdirSync } from "node:fs";
import { readProc } from "./processes.ts";

/** CPU time in nanoseconds by thread, or under one name for all threads. Undefined without /proc. */
export type CpuReading = ReadonlyMap<string, number> | undefined;

// The unit of CPU time in /proc is 1/100 s, independent of the kernel's timer frequency.
const nanosecondsPerTick = 1e7;

/**
 * Reads the CPU time of every thread from `schedstat`, which counts nanoseconds. A kernel without it
 * has the sum in `stat`, in hundredths of a second: several percent of a short run.
 */
export function readCpu(pid: number): CpuReading {
  const nanoseconds = new Map<string, number>();
  for (const thread of threadsOf(pid)) {
    const used = Number(readProc(pid, `task/${thread}/schedstat`)?.split(" ")[0] ?? 0);
    if (used > 0) nanoseconds.set(thread, used);
  }
  return nanoseconds.size > 0 ? nanoseconds : readTicks(pid);
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function readTicks(pid: number): CpuReading {
  const stat = readProc(pid, "stat");
  if (stat === undefined) return undefined;
  // The name in parentheses may contain spaces, so fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return new Map([["all", (Number(fields[11]) + Number(fields[12])) * nanosecondsPerTick]]);
}

/**
 * Returns the CPU time between two readings. A thread that ended in between is not counted, because
 * its total is gone. The runtimes measured here end only idle threads.
 */
export function cpuMicrosecondsBetween(before: CpuReading, after: CpuReading): number | undefined {
  if (before === undefined || after === undefined) return undefined;
  let nanoseconds = 0;
  for (const [thread, total] of after) nanoseconds += total - (before.get(thread) ?? 0);
  return nanoseconds / 1000;
}
