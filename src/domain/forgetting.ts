import { every, inBackground, whileAvailable } from "./background.ts";
import type { Clock, IdempotencyStore, Log } from "./ports.ts";

const everyMs = 10_000;

/** Commits whose keys are deleted in one transaction. It takes about as long as an update. */
const commitsAtOnce = 500;

/** Keys are deleted this long after they expired, because the clock of a database may be behind. */
const marginMs = 3_600_000;

/**
 * Reads the stored idempotency keys into memory, and deletes those that have expired, in small steps
 * between which updates are stored. Returns a function that stops it.
 */
export function forgetExpiredKeys(
  store: IdempotencyStore,
  clock: Clock,
  keptMs: number,
  log: Log,
): () => void {
  inBackground("reading idempotency keys", log, store.prepare)();
  let isStopped = false;
  const prune = async () => {
    const before = clock.now() - keptMs - marginMs;
    while (!isStopped && (await store.prune(before, commitsAtOnce)) === commitsAtOnce);
  };
  const stop = every(everyMs, "deleting expired idempotency keys", log, whileAvailable(prune));
  return () => {
    isStopped = true;
    stop();
  };
}
