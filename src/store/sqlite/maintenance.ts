import type { Database } from "bun:sqlite";
import {
  clockErrorMsMax,
  type MaintenanceRecord,
  type MaintenanceTask,
} from "../../domain/operations/maintenance.ts";
import { maintenanceColumns, toMaintenanceRecord } from "../rows.ts";

/** Reads when tasks ran. Every method returns a value, not a promise. */
export function createMaintenanceReader(database: Database) {
  const records = database.query(`SELECT ${maintenanceColumns} FROM maintenance ORDER BY task`);
  return {
    listMaintenance: (): MaintenanceRecord[] => records.values().map(toMaintenanceRecord),
  };
}

/** Records when tasks ran. Each call is one statement, and so one transaction. */
export function createMaintenanceWriter(database: Database) {
  const start = database.query(
    `INSERT INTO maintenance (task, started_at) VALUES (?1, ?2)
     ON CONFLICT (task) DO UPDATE SET started_at = excluded.started_at
       WHERE started_at <= ?3 OR started_at > ?4`,
  );
  const end = database.query(
    `INSERT INTO maintenance (task, started_at, succeeded_at, result) VALUES (?1, 0, ?2, ?3)
     ON CONFLICT (task) DO UPDATE SET succeeded_at = excluded.succeeded_at, result = excluded.result`,
  );
  const fail = database.query(
    `INSERT INTO maintenance (task, started_at, failed_at, error) VALUES (?1, 0, ?2, ?3)
     ON CONFLICT (task) DO UPDATE SET failed_at = excluded.failed_at, error = excluded.error`,
  );
  return {
    startTask: (task: MaintenanceTask, now: number, dueAfter: number): boolean =>
      start.run(task, now, dueAfter, now + clockErrorMsMax).changes > 0,
    endTask(task: MaintenanceTask, now: number, result: string): void {
      end.run(task, now, result);
    },
    failTask(task: MaintenanceTask, now: number, error: string): void {
      fail.run(task, now, error);
    },
  };
}
