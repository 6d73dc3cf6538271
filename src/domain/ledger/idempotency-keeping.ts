import { every, whileAvailable } from "../running/background.ts";
import type { Clock } from "../running/clock.ts";
import type { Log } from "../running/events.ts";
import type { Tip } from "./ledger.ts";
import type { LedgerParts } from "./store.ts";

const everyMs = 10_000;

/** Commits whose keys are deleted in one transaction. It takes about as long as an update. */
const commitsAtOnce = 500;

/** Keys are deleted this long after they expired, because the clock of a database may be behind. */
const marginMs = 3_600_000;

/**
 * Keys that were stored before this time are deleted. They are old by the clock and by the ledger's
 * own time: the clock of this instance may be wrong, and then keys are only kept for longer.
 */
export function expiredBefore(now: number, tip: Pick<Tip, "at">, reachMs: number): number {
  return Math.min(now, tip.at) - reachMs - marginMs;
}

interface KeptParts extends Pick<LedgerParts, "idempotency" | "history"> {
  /** The keys of requests that made something else than rows of the ledger. */
  readonly made: { pruneMade(before: number, rowsMax: number): Promise<number> };
}

/**
 * Reads the stored keys into memory. Deletes expired ones in small steps, between which updates are
 * stored.
 */
export function keepIdempotencyKeys(
  { idempotency: store, history, made }: KeptParts,
  clock: Clock,
  /** How old keys that are kept may be. */
  reachMs: () => number,
  log: Log,
) {
  let isPrepared = false;
  let isStopped = false;
  const prepare = async () => {
    if (!isPrepared) await store.prepare();
    isPrepared = true;
  };
  const prune = async () => {
    await prepare();
    const before = expiredBefore(clock.now(), await history.readTip(), reachMs());
    while (!isStopped && (await store.prune(before, commitsAtOnce)) === commitsAtOnce);
    while (!isStopped && (await made.pruneMade(before, commitsAtOnce)) === commitsAtOnce);
  };
  const stop = every(everyMs, "reading and deleting idempotency keys", log, whileAvailable(prune));
  const firstAttempt = whileAvailable(prepare)().catch((error: unknown) =>
    log("task failed", { task: "reading idempotency keys", error: String(error) }),
  );
  return {
    /** Resolves when the first attempt to read them has ended, also if it failed. */
    firstAttempt,
    /** Whether all keys are in memory. Until then, a request with a key waits for them. */
    isPrepared: () => isPrepared,
    stop(): void {
      isStopped = true;
      stop();
    },
  };
}
