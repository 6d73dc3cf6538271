import type { MaintenanceRecord, MaintenanceTask } from "../domain/operations/maintenance.ts";
import { type Row, toNumber } from "./rows.ts";

export const maintenanceColumns = "task, started_at, succeeded_at, failed_at, result, error";

export function toMaintenanceRecord(row: Row): MaintenanceRecord {
  return {
    task: row[0] as MaintenanceTask,
    startedAt: Number(row[1]),
    succeededAt: toNumber(row[2]),
    failedAt: toNumber(row[3]),
    result: row[4] as string | null,
    error: row[5] as string | null,
  };
}
