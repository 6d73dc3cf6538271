// Starts a service with a probe in its event loop, and asks what the probe has seen.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

export interface Probed {
  /** The longest turn of the event loop, without the time others had the processor. */
  turnMs: number;
  /** The same by the clock on the wall. */
  wallMs: number;
  /** The most memory the process has had resident since it started. */
  peakMb: number;
}

/** The environment that puts the probe into a Bun process. */
export function probeEnvironment(file: string): Record<string, string> {
  const probe = join(import.meta.dir, "probe.ts");
  return { BUN_OPTIONS: `--preload ${probe}`, PETSTORE_BENCH_PROBE: file };
}

/** What the probe has seen since it was asked last. */
export async function askProbe(pid: number, file: string): Promise<Probed> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  while (!existsSync(file)) await Bun.sleep(5);
  return JSON.parse(readFileSync(file, "utf8")) as Probed;
}
