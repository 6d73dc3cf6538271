import type { AuditStore } from "../../domain/audit.ts";
import {
  auditColumns,
  auditValues,
  filterValues,
  namedAuditColumns,
  toAuditRow,
} from "../audit-rows.ts";
import type { Query } from "./engine/session.ts";
import { waitForDisk } from "./engine/transaction.ts";

const listText = `
  SELECT ${namedAuditColumns} FROM audit LEFT JOIN keys ON keys.id = audit.key_id
  WHERE ($1::int8 IS NULL OR audit.seq < $1::int8) AND ($2::text IS NULL OR audit.action = $2::text)
    AND ($3::text IS NULL OR audit.key_id = $3::text)
    AND ($4::text IS NULL OR audit.target = $4::text)
  ORDER BY audit.seq DESC LIMIT $5::int8`;

/**
 * SQL that adds an entry, for a WITH clause. Its values are the parameters from number `first` on.
 * With `from`, it is added only if that part of the statement has a row.
 */
export function insertEntry(first: number, from?: string): string {
  const types = ["int8", "text", "text", "text", "text", "text"];
  const values = types.map((type, index) => `$${first + index}::${type}`).join();
  return `INSERT INTO audit (${auditColumns}) SELECT ${values}${from ? ` FROM ${from}` : ""}`;
}

/** Reads the audit log, and adds entries about changes that are stored elsewhere. */
export function createAudit(query: Query): AuditStore {
  return {
    async addEntry(entry) {
      await query(`${insertEntry(1)} RETURNING ${waitForDisk}`, auditValues(entry));
    },
    listEntries: async (filter, rowsMax) =>
      (await query(listText, [...filterValues(filter), rowsMax])).map(toAuditRow),
  };
}
