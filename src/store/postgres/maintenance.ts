import { clockErrorMsMax, type MaintenanceStore } from "../../domain/operations/maintenance.ts";
import { maintenanceColumns, toMaintenanceRecord } from "../rows.ts";
import type { Query } from "./engine/session.ts";
import { waitForDisk } from "./engine/transaction.ts";

const listText = `SELECT ${maintenanceColumns} FROM maintenance ORDER BY task`;

/** Locks the row, so of several instances one gets a row back. */
const startText = `
  INSERT INTO maintenance AS known (task, started_at) VALUES ($1::text, $2::int8)
  ON CONFLICT (task) DO UPDATE SET started_at = excluded.started_at
    WHERE known.started_at <= $3::int8 OR known.started_at > $4::int8
  RETURNING ${waitForDisk}`;

const endText = `
  INSERT INTO maintenance (task, started_at, succeeded_at, result)
  VALUES ($1::text, 0, $2::int8, $3::text)
  ON CONFLICT (task) DO UPDATE SET succeeded_at = excluded.succeeded_at, result = excluded.result
  RETURNING ${waitForDisk}`;

const failText = `
  INSERT INTO maintenance (task, started_at, failed_at, error)
  VALUES ($1::text, 0, $2::int8, $3::text)
  ON CONFLICT (task) DO UPDATE SET failed_at = excluded.failed_at, error = excluded.error
  RETURNING ${waitForDisk}`;

/** Records when tasks ran. Each call is one statement and therefore one transaction. */
export function createMaintenance(query: Query): MaintenanceStore {
  return {
    listMaintenance: async () => (await query(listText)).map(toMaintenanceRecord),
    startTask: async (task, now, dueAfter) =>
      (await query(startText, [task, now, dueAfter, now + clockErrorMsMax])).length > 0,
    async endTask(task, now, result) {
      await query(endText, [task, now, result]);
    },
    async failTask(task, now, error) {
      await query(failText, [task, now, error]);
    },
  };
}
