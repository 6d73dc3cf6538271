import type { Database } from "bun:sqlite";
import type { AuditEntry, AuditFilter, AuditRow } from "../../domain/audit/audit.ts";
import {
  auditColumns,
  auditValues,
  filterValues,
  namedAuditColumns,
  toAuditRow,
} from "../audit-rows.ts";

/** Reads the audit log. */
export function createAuditReader(database: Database) {
  const list = database.query(
    `SELECT ${namedAuditColumns} FROM audit LEFT JOIN keys ON keys.id = audit.key_id
     WHERE audit.seq > ?1 AND audit.seq < ?2 AND (?3 IS NULL OR audit.action = ?3)
       AND (?4 IS NULL OR audit.key_id = ?4) AND (?5 IS NULL OR audit.target = ?5)
     ORDER BY audit.seq DESC LIMIT ?6`,
  );
  return {
    listEntries: (filter: AuditFilter, rowsMax: number): AuditRow[] =>
      list.values(...filterValues(filter), rowsMax).map(toAuditRow),
  };
}

/**
 * Adds an entry to the audit log, in the transaction of the caller. Times never decrease, not even if
 * the clock was set back.
 */
export function createEntryInserter(database: Database): (entry: AuditEntry) => void {
  const lastAt = "SELECT at FROM audit ORDER BY seq DESC LIMIT 1";
  const insert = database.query(
    `INSERT INTO audit (${auditColumns}) VALUES (max(?, ifnull((${lastAt}), 0)), ?, ?, ?, ?, ?)`,
  );
  return (entry) => void insert.run(...auditValues(entry));
}

/** Writes entries about changes that are stored elsewhere. */
export function createAuditWriter(database: Database) {
  return { addEntry: createEntryInserter(database) };
}
