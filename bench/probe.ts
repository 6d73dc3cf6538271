// Measures the turns of a service's event loop. probe-client.ts preloads it into the service. On
// SIGUSR2 it writes a report about the time since the last report.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import type { ProbeReport } from "./probe-client.ts";

const tickMs = 2;

/** Milliseconds for which this thread was ready to run but waited for a core. */
function readWaitMs(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

function startProbe(file: string): void {
  let longest = { turnMs: 0, wallMs: 0 };
  // Starts with the first tick: the time before it is for loading the program.
  let lastAt = Number.POSITIVE_INFINITY;
  let lastWaitMs = 0;
  setInterval(() => {
    const at = performance.now();
    const waitMs = readWaitMs();
    const wallMs = Math.max(0, at - lastAt - tickMs);
    // On a busy machine most of a long gap is time spent waiting for a core.
    const turnMs = Math.max(0, wallMs - (waitMs - lastWaitMs));
    longest = {
      turnMs: Math.max(longest.turnMs, turnMs),
      wallMs: Math.max(longest.wallMs, wallMs),
    };
    lastAt = at;
    lastWaitMs = waitMs;
  }, tickMs).unref();
  process.on("SIGUSR2", () => {
    const status = readFileSync("/proc/self/status", "utf8");
    const peakMb = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
    const report: ProbeReport = { ...longest, peakMb };
    longest = { turnMs: 0, wallMs: 0 };
    // Renamed when complete, so that the waiting process never reads half of it.
    writeFileSync(`${file}.part`, JSON.stringify(report));
    renameSync(`${file}.part`, file);
  });
}

const file = process.env.BENCH_PROBE_FILE;
if (file !== undefined && isMainThread) startProbe(file);
