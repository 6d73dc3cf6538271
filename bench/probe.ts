// Preloaded into a service by probing.ts: measures the turns of its event loop. On SIGUSR2 it writes
// what it has seen since the last time.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import type { Probed } from "./probing.ts";

const everyMs = 2;

/** Milliseconds that this thread was ready to run and another one had the processor. */
function readyMs(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

function startProbe(file: string): void {
  let longest = { turnMs: 0, wallMs: 0 };
  // Counted from the first tick on: what comes before it is loading the program.
  let lastAt = Number.POSITIVE_INFINITY;
  let lastReadyMs = 0;
  setInterval(() => {
    const at = performance.now();
    const ready = readyMs();
    const wallMs = Math.max(0, at - lastAt - everyMs);
    // On a busy machine most of a long gap is waiting for a core, which is no turn of ours.
    const turnMs = Math.max(0, wallMs - (ready - lastReadyMs));
    longest = {
      turnMs: Math.max(longest.turnMs, turnMs),
      wallMs: Math.max(longest.wallMs, wallMs),
    };
    lastAt = at;
    lastReadyMs = ready;
  }, everyMs).unref();
  process.on("SIGUSR2", () => {
    const status = readFileSync("/proc/self/status", "utf8");
    const peakMb = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
    const probed: Probed = { ...longest, peakMb };
    longest = { turnMs: 0, wallMs: 0 };
    // Renamed into place: whoever waits for the file finds all of it.
    writeFileSync(`${file}.part`, JSON.stringify(probed));
    renameSync(`${file}.part`, file);
  });
}

const file = process.env.PETSTORE_BENCH_PROBE;
if (file !== undefined && isMainThread) startProbe(file);
