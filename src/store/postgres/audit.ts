import type { AuditEntry, AuditStore } from "../../domain/audit/audit.ts";
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
  WHERE audit.seq > $1::int8 AND audit.seq < $2::int8
    AND ($3::text IS NULL OR audit.action = $3::text)
    AND ($4::text IS NULL OR audit.key_id = $4::text)
    AND ($5::text IS NULL OR audit.target = $5::text)
  ORDER BY audit.seq DESC LIMIT $6::int8`;

/**
 * SQL that adds an entry: two parts of a WITH clause. Its values are the parameters from number `first`
 * on. With `from`, it is added only if that part of the statement has a row. The row of `audit_end` is
 * locked until the transaction ends, so numbers have no gaps, and times never decrease: not even if the
 * clock was set back, or if transactions commit in another order than they read the clock.
 */
export function addingEntry(first: number, from?: string): string {
  const values = [1, 2, 3, 4, 5].map((index) => `$${first + index}::text`).join();
  const condition = from ? ` WHERE EXISTS (SELECT FROM ${from})` : "";
  return `numbered AS (UPDATE audit_end SET seq = seq + 1, at = greatest(at, $${first}::int8)${condition}
                 RETURNING seq, at),
    noted AS (INSERT INTO audit (seq, ${auditColumns}) SELECT seq, at, ${values} FROM numbered)`;
}

const addText = `WITH ${addingEntry(1)} SELECT ${waitForDisk}`;

/** Adds an entry, in the transaction of the caller if there is one. */
export async function addEntry(query: Query, entry: AuditEntry): Promise<void> {
  await query(addText, auditValues(entry));
}

/** Reads the audit log, and adds entries about changes that are stored elsewhere. */
export function createAudit(query: Query): AuditStore {
  return {
    addEntry: (entry) => addEntry(query, entry),
    listEntries: async (filter, rowsMax) =>
      (await query(listText, [...filterValues(filter), rowsMax])).map(toAuditRow),
  };
}
