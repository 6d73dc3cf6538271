import { readFileSync } from "node:fs";
import { signalNumbers } from "./exit-codes.ts";

/**
 * `timeout` and `npm` pass on a signal that the whole group of processes has received already. A signal
 * this soon after another one is the same one.
 */
const repeatMs = 250;

/** Returns a function to call with each signal. It returns whether it is the first, a repetition of it or a later one. */
export function createSignalCounter(): () => "first" | "repeated" | "later" {
  let firstAt: number | undefined;
  return () => {
    const now = performance.now();
    if (firstAt !== undefined) return now - firstAt < repeatMs ? "repeated" : "later";
    firstAt = now;
    return "first";
  };
}

/** Whether the process was started by `nohup`, so that it survives its terminal. */
export function isIgnored(signal: keyof typeof signalNumbers): boolean {
  if (signal !== "SIGHUP") return false;
  try {
    const [, mask] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))!;
    return ((BigInt(`0x${mask}`) >> BigInt(signalNumbers[signal] - 1)) & 1n) === 1n;
  } catch {
    // Only Linux has this file.
    return false;
  }
}
