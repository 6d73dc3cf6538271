// Puts the probe (probe.ts) into the event loop of a service, and reads its reports.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

export interface ProbeReport {
  /** The longest turn of the event loop, without the time spent waiting for a core. */
  turnMs: number;
  /** The longest turn in wall-clock time. */
  wallMs: number;
  /** Peak resident memory since the process started. */
  peakMb: number;
}

/** Returns the environment that loads the probe into a Bun process. */
export function probeEnvironment(file: string): Record<string, string> {
  const probe = join(import.meta.dir, "probe.ts");
  return { BUN_OPTIONS: `--preload ${probe}`, BENCH_PROBE_FILE: file };
}

/** Returns what the probe measured since the last call. */
export async function readProbe(pid: number, file: string): Promise<ProbeReport> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  while (!existsSync(file)) await Bun.sleep(5);
  return JSON.parse(readFileSync(file, "utf8")) as ProbeReport;
}
