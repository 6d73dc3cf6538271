import { valueOfJson } from "../values/json.ts";
/** Work that operators do with commands, or the service at an interval. */
export type MaintenanceTask = "backup" | "drill";

/** The last runs of a task. Times are in milliseconds since 1970. */
export interface MaintenanceRecord {
  readonly task: MaintenanceTask;
  /** The last start by the service. 0 if only commands have done the task: they have no schedule. */
  readonly startedAt: number;
  readonly succeededAt: number | null;
  readonly failedAt: number | null;
  /** What the last success reported, as JSON. */
  readonly result: string | null;
  /** Why the last failure failed. */
  readonly error: string | null;
}

/**
 * How long the last success took, as its result says. The time since the last start would be wrong: an
 * operator's backup has no start of its own.
 */
export function durationMsOf({ result }: MaintenanceRecord): number | undefined {
  const { durationMs } = valueOfJson<{ durationMs?: unknown }>(result ?? "{}") ?? {};
  return typeof durationMs === "number" ? durationMs : undefined;
}

/**
 * How far the clocks of instances may be apart. A start that lies further in the future was recorded
 * by a clock that was wrong and has been corrected since.
 */
export const clockErrorMsMax = 3_600_000;

/** Records when tasks ran, for all instances of a service and for commands. */
export interface MaintenanceStore {
  listMaintenance(): Promise<readonly MaintenanceRecord[]>;
  /**
   * Records that a task starts, unless one has started after `dueAfter`. Returns false in that case:
   * another instance does the work. A start in the future, by more than `clockErrorMsMax`, does not
   * count.
   */
  startTask(task: MaintenanceTask, now: number, dueAfter: number): Promise<boolean>;
  endTask(task: MaintenanceTask, now: number, result: string): Promise<void>;
  failTask(task: MaintenanceTask, now: number, error: string): Promise<void>;
}
