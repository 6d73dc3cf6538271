import {
  clockErrorMsMax,
  type MaintenanceRecord,
  type MaintenanceStore,
  type MaintenanceTask,
} from "../domain/operations/maintenance.ts";
import { type Row, toNumber } from "./rows.ts";
import { readAll, run, type ScriptsOf } from "./statements.ts";

function toMaintenanceRecord(row: Row): MaintenanceRecord {
  return {
    task: row[0] as MaintenanceTask,
    startedAt: Number(row[1]),
    succeededAt: toNumber(row[2]),
    failedAt: toNumber(row[3]),
    result: row[4] as string | null,
    error: row[5] as string | null,
  };
}

export const maintenanceReads: ScriptsOf<MaintenanceStore, "listMaintenance"> = {
  listMaintenance: () =>
    readAll(
      toMaintenanceRecord,
      `SELECT task, started_at, succeeded_at, failed_at, result, error
       FROM maintenance ORDER BY task`,
    ),
};

/** Locks the row, so of several instances one gets a row back. */
const start = `INSERT INTO maintenance AS known (task, started_at) VALUES ($1, $2)
  ON CONFLICT (task) DO UPDATE SET started_at = excluded.started_at
    WHERE known.started_at <= $3::int8 OR known.started_at > $4::int8
  RETURNING task`;
const end = `INSERT INTO maintenance (task, started_at, succeeded_at, result) VALUES ($1, 0, $2, $3)
  ON CONFLICT (task) DO UPDATE SET succeeded_at = excluded.succeeded_at, result = excluded.result`;
const fail = `INSERT INTO maintenance (task, started_at, failed_at, error) VALUES ($1, 0, $2, $3)
  ON CONFLICT (task) DO UPDATE SET failed_at = excluded.failed_at, error = excluded.error`;

/** Records when tasks ran. Each is one transaction. */
export const maintenanceWrites: ScriptsOf<MaintenanceStore, "startTask" | "endTask" | "failTask"> =
  {
    *startTask(task, now, dueAfter) {
      return (yield* run(start, [task, now, dueAfter, now + clockErrorMsMax])).length > 0;
    },
    *endTask(task, now, result) {
      yield* run(end, [task, now, result]);
    },
    *failTask(task, now, error) {
      yield* run(fail, [task, now, error]);
    },
  };
