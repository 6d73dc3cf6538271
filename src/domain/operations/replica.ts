import { createCondition, every, monotonicMs } from "../running/background.ts";
import type { Log } from "../running/events.ts";

/** What is known of the continuous copy that another program makes of the store. */
export interface ReplicaState {
  /** Every update that is older is in the copy. Undefined until a check has succeeded. */
  readonly ageMs: number | undefined;
  /** Why the copy is not known to be current. Undefined if the last check succeeded. */
  readonly error: string | undefined;
  /** No check has succeeded for too long. */
  readonly isOld: boolean;
}

/**
 * Succeeds only if every update that was stored before the check began is in the copy. Rejects soon after
 * the signal is aborted, and with a message that contains no secret.
 */
export type ReplicaCheck = (signal: AbortSignal) => Promise<void>;

export interface ReplicaOptions {
  readonly check: ReplicaCheck;
  readonly log: Log;
  readonly checkEveryMs: number;
  readonly timeoutMs: number;
  readonly ageMsMax: number;
}

/**
 * Checks the copy at an interval, never twice at once. The age counts from the start of a check, by a clock
 * that never jumps: the copy needs no times of its own, and none can be wrong.
 */
export function watchReplica({ check, log, checkEveryMs, timeoutMs, ageMsMax }: ReplicaOptions) {
  const stopping = new AbortController();
  const events = { began: "replica not current", ended: "replica current again" } as const;
  const condition = createCondition(log, events);
  const startedAt = monotonicMs();
  let copiedAt: number | undefined;
  let error: string | undefined = "it was not checked yet";
  let isOld = false;

  async function checkOnce(): Promise<void> {
    const began = monotonicMs();
    try {
      await check(AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutMs)]));
      [copiedAt, error, isOld] = [began, undefined, false];
      condition.succeeded();
    } catch (thrown) {
      if (stopping.signal.aborted) return;
      error = (thrown as Error).message;
      condition.failed(() => ({ error }));
      const ageMs = monotonicMs() - (copiedAt ?? startedAt);
      if (isOld || ageMs <= ageMsMax) return;
      isOld = true;
      log("replica too old", { ageSeconds: Math.floor(ageMs / 1_000), error });
    }
  }

  const stopChecking = every(checkEveryMs, "checking the replica", log, checkOnce);
  return {
    read(): ReplicaState {
      return { ageMs: copiedAt && monotonicMs() - copiedAt, error, isOld };
    },
    stop(): void {
      stopChecking();
      stopping.abort();
    },
  };
}
