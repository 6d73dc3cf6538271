import { printError, printNote } from "../output.ts";
import { exitCodeOf } from "./exit-codes.ts";
import { clearProgress } from "./progress.ts";
import { createSignalCounter, isIgnored } from "./signals.ts";

/** What a signal does to the command that this process runs. */

const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
type Signal = (typeof signals)[number];

/**
 * A signal ends a command that only reads at once. It also ends one that has not begun its change,
 * which says so. A change that has begun is finished first, because its outcome is unknown until the
 * store has responded.
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
