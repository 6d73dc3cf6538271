import { createCondition, every } from "../running/background.ts";
import type { Clock } from "../running/clock.ts";
import type { Log } from "../running/events.ts";
import type { MaintenanceRecord } from "./maintenance.ts";

/** A copy that was not current for longer is logged as too old. */
export const replicaAgeMsMax = 300_000;

/** The last checks of the continuous copy that another program makes of the store. */
export interface ReplicaView {
  /** `succeededAt` is when the last successful check began. The error is null if the last one succeeded. */
  runs(): Pick<MaintenanceRecord, "startedAt" | "succeededAt" | "failedAt" | "error">;
  /** Every update that is older is in the copy. Until a check has succeeded, the time since the start. */
  ageMs(): number;
}

export interface ReplicaOptions {
  /**
   * Resolves only if every update that was stored before it began is in the copy. Rejects soon after the
   * signal is aborted, and with a message that contains no secret.
   */
  check(signal: AbortSignal): Promise<void>;
  readonly everyMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Checks the copy at an interval, never twice at once. */
export function watchReplica({ check, everyMs, clock, log }: ReplicaOptions) {
  const stopping = new AbortController();
  const events = { began: "replica not current", ended: "replica current again" } as const;
  const condition = createCondition(log, events);
  const openedAt = clock.now();
  const none = { startedAt: 0, succeededAt: null, failedAt: null, error: null };
  let runs: ReturnType<ReplicaView["runs"]> = none;
  let isOld = false;
  const ageMs = () => Math.max(0, clock.now() - (runs.succeededAt ?? openedAt));

  async function checkOnce(): Promise<void> {
    const startedAt = clock.now();
    try {
      await check(AbortSignal.any([stopping.signal, AbortSignal.timeout((everyMs * 2) / 3)]));
      runs = { ...runs, startedAt, succeededAt: startedAt, error: null };
      isOld = false;
      condition.succeeded();
    } catch (thrown) {
      if (stopping.signal.aborted) return;
      const error = (thrown as Error).message;
      runs = { ...runs, startedAt, failedAt: clock.now(), error };
      condition.failed(() => ({ error }));
      if (isOld || ageMs() <= replicaAgeMsMax) return;
      isOld = true;
      log("replica too old", { ageSeconds: Math.floor(ageMs() / 1_000), error });
    }
  }

  const stopChecking = every(everyMs, "checking the replica", log, checkOnce);
  return {
    runs: () => runs,
    ageMs,
    stop(): void {
      stopChecking();
      stopping.abort();
    },
  };
}
