import type { Database, SQLQueryBindings } from "bun:sqlite";
import { packedColumns, unpackUsage } from "../../packed-usage.ts";

/** Step 9: the usage of each key over time as one row per minute or day, instead of packed ones. */
export function usagePoints(database: Database): void {
  database.run(`
    CREATE TABLE usage_points (
      key_id   TEXT    NOT NULL,
      step     TEXT    NOT NULL CHECK (step IN ('minute', 'day')),
      start    INTEGER NOT NULL,
      admitted INTEGER NOT NULL,
      refused  INTEGER NOT NULL,
      PRIMARY KEY (key_id, step, start)
    ) STRICT, WITHOUT ROWID;

    -- Old counts of all keys are removed together.
    CREATE INDEX usage_points_by_start ON usage_points (step, start);
    `);
  const add = database.query("INSERT OR IGNORE INTO usage_points VALUES (?, ?, ?, ?, ?)");
  for (const packed of database.query(`SELECT ${packedColumns} FROM usage_history`).values()) {
    for (const row of unpackUsage(packed)) add.run(...(row as SQLQueryBindings[]));
  }
  database.run("DROP TABLE usage_history");
}
