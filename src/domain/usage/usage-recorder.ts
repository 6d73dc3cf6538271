import type { LimitDecision } from "../limits/limits.ts";
import { every, whileAvailable } from "../running/background.ts";
import type { Clock } from "../running/clock.ts";
import type { Log } from "../running/events.ts";
import { minuteMs } from "../values/times.ts";
import {
  allKeys,
  oldestKept,
  type Step,
  seriesStart,
  steps,
  toPoints,
  toSeries,
  type UsageCount,
  type UsageHistoryStore,
  type UsageSeries,
  withoutKey,
} from "./usage-history.ts";

export type UsageRecorder = ReturnType<typeof createUsageRecorder>;

const saveEveryMs = 10_000;
const pruneEveryMs = 3_600_000;

/** Counts that are stored in one transaction, which takes a few milliseconds. */
const batchCounts = 100;

/** More than this is not kept while the store cannot be written. The oldest counts are dropped. */
const unsavedMax = 100_000;

type Decision = Pick<LimitDecision, "outcome" | "now">;
type Count = { -readonly [Field in keyof UsageCount]: UsageCount[Field] };

/**
 * Counts requests for the charts of the operator, in memory, and saves every ten seconds. A count whose
 * write fails is saved again later. If the store did write it, but its answer was lost, it counts twice.
 */
export function createUsageRecorder(store: UsageHistoryStore, clock: Clock, log: Log) {
  /** The counts of one minute, by key. */
  let current = new Map<string, Count>();
  let minute = 0;
  /** Counts of earlier minutes, and those that are being saved. */
  let unsaved: UsageCount[] = [];
  let saving = Promise.resolve();
  /** Grows when a save begins and when it ends, so it is odd during a save. */
  let saves = 0;
  let prunedAt = Number.NEGATIVE_INFINITY;

  function closeMinute(): void {
    for (const count of current.values()) unsaved.push(count);
    current = new Map();
    if (unsaved.length > unsavedMax) unsaved = unsaved.slice(-unsavedMax);
  }

  function save(): Promise<void> {
    saving = saving.catch(() => {}).then(saveNow);
    return saving;
  }

  async function saveNow(): Promise<void> {
    saves += 1;
    try {
      await saveCounts();
    } finally {
      saves += 1;
    }
    await prune();
  }

  async function saveCounts(): Promise<void> {
    closeMinute();
    while (unsaved.length > 0) {
      const batch = unsaved.slice(0, batchCounts);
      await store.addCounts(toPoints(batch));
      const saved = new Set(batch);
      unsaved = unsaved.filter((count) => !saved.has(count));
    }
  }

  /** Reads stored counts while nothing is being saved, so that they include nothing of `unsaved`. */
  async function readStored(keyId: string, step: Step, from: number) {
    for (;;) {
      await saving.catch(() => {});
      const before = saves;
      const stored = await store.readCounts(keyId, step, from);
      if (before % 2 === 0 && saves === before) return stored;
    }
  }

  async function prune(): Promise<void> {
    const now = clock.now();
    if (Math.abs(now - prunedAt) < pruneEveryMs) return;
    for (const step of steps) {
      const before = oldestKept(step, now);
      while ((await store.pruneCounts(step, before)) > 0);
    }
    prunedAt = now;
  }

  const stopSaving = every(saveEveryMs, "saving usage for charts", log, whileAvailable(save));

  return {
    /** Counts one request in the minute of its decision. Undefined stands for no valid key. */
    count(keyId: string = withoutKey, { outcome, now }: Decision): void {
      const counted = Math.max(0, now - (now % minuteMs));
      if (counted !== minute) {
        closeMinute();
        minute = counted;
      }
      let count = current.get(keyId);
      if (!count) {
        count = { keyId, start: minute, admitted: 0, refused: 0 };
        current.set(keyId, count);
      }
      if (outcome === "admitted") count.admitted += 1;
      else count.refused += 1;
    },
    /** The chart of a key. It includes what this process has not saved yet. */
    async chart(keyId: string, step: Step, now: number): Promise<UsageSeries> {
      const stored = await readStored(keyId, step, seriesStart(step, now));
      closeMinute();
      const isCounted = (count: UsageCount) =>
        keyId === allKeys ? count.keyId !== withoutKey : count.keyId === keyId;
      return toSeries([...stored, ...unsaved.filter(isCounted)], step, now);
    },
    /** Saves everything. */
    save,
    /** Stops the timer, and saves everything if the store can be written. */
    async stop(): Promise<void> {
      stopSaving();
      await whileAvailable(save)();
    },
  };
}
