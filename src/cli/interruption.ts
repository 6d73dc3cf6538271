import { readFileSync } from "node:fs";
import { printError, printNote } from "../output.ts";
import { exitCodeOf, signalNumbers } from "./exit-codes.ts";
import { clearProgress } from "./progress.ts";

/** What a signal does to the command that this process runs. */

const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
type Signal = (typeof signals)[number];

/**
 * A signal ends a command that only reads at once. Before the change, it does the same with a message. A
 * change that has begun is finished first: its outcome is unknown until the store has responded.
 */
let phase: "reading" | "before the change" | "changing" = "reading";
/** The signal that arrived while a change was under way. */
let received: Signal | undefined;
/** The command has created a store, which has no content yet. */
let hasCreated = false;
const cleanUps = new Set<() => void>();

/** Handles signals from now on. `changes` is true for a command that changes the store. */
export function watchSignals(changes: boolean): void {
  phase = changes ? "before the change" : "reading";
  for (const signal of signals) if (!isIgnored(signal)) process.on(signal, onSignal);
}

/** Leaves signals to the caller. */
export function unwatchSignals(): void {
  for (const signal of signals) process.off(signal, onSignal);
}

/** Call when the command has created the store that it will change. */
export function noteCreation(): void {
  hasCreated = true;
}

/** Call before a change whose outcome the command must wait for. */
export function beginChange(): void {
  if (phase === "before the change") phase = "changing";
}

/** Call when the change is stored and more work follows. */
export function endChange(): void {
  phase = "reading";
  if (received) process.exit(exitCodeOf(received));
}

/** Calls `cleanUp` before a signal ends the process. Returns a function that cancels that. */
export function onInterrupt(cleanUp: () => void): () => void {
  cleanUps.add(cleanUp);
  return () => void cleanUps.delete(cleanUp);
}

/** The exit code of a command that has done its work, perhaps after a signal. */
export function finalExitCode(code: number): number {
  return received ? exitCodeOf(received) : code;
}

const count = createSignalCounter();

function onSignal(signal: Signal): void {
  const place = count();
  if (place === "repeated") return;
  clearProgress();
  if (phase === "changing" && place === "first") {
    received = signal;
    printNote("the change is being stored; the command ends when the store has answered");
    return;
  }
  for (const cleanUp of cleanUps) cleanUp();
  if (phase === "before the change") {
    printError(`interrupted, ${hasCreated ? "the new store is empty" : "nothing was changed"}`);
  }
  if (phase === "changing") printError("interrupted; the change may have been stored");
  process.exit(exitCodeOf(signal));
}

/**
 * `timeout` and `npm` pass on a signal that the whole group of processes has received already. A signal
 * this soon after another one is the same one.
 */
const repeatMs = 250;

/** Returns a function to call for each signal. It tells the first, its repetitions and later ones apart. */
export function createSignalCounter(): () => "first" | "repeated" | "later" {
  let firstAt: number | undefined;
  return () => {
    const now = performance.now();
    if (firstAt !== undefined) return now - firstAt < repeatMs ? "repeated" : "later";
    firstAt = now;
    return "first";
  };
}

/** Whether the process ignores SIGHUP, for example because `nohup` started it. */
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
