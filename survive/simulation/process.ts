import { unavailable } from "../../src/domain/running/errors.ts";
import type { World } from "./time.ts";

/** A process that serves the store. Once it has crashed, it changes nothing and gets no answer. */
export interface Process {
  isAlive: boolean;
  /** Until then it cannot reach the store. By `performance.now()`. */
  isCutUntil?: number;
}

export const never = new Promise<never>(() => {});

/**
 * A round trip to the store. It may fail before the work is done or after it: `onLost` gets a result that
 * the process does not get. What a process has sent is done even if it crashes.
 */
export async function call<T>(
  world: World,
  process: Process,
  work: () => T,
  onLost: (result: T) => void = () => {},
): Promise<T> {
  if (!process.isAlive) return never;
  await world.delay(1, 0.01, 1_500);
  const isCut = performance.now() < (process.isCutUntil ?? 0);
  if (isCut || world.breaks(0.01)) throw unavailable("unreachable");
  const result = work();
  await world.delay(1, 0.01, 1_500);
  const isLost = world.breaks(0.01);
  if (isLost || !process.isAlive) onLost(result);
  if (!process.isAlive) return never;
  if (isLost) throw unavailable("unreachable");
  return result;
}
