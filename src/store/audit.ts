import type { AuditAction, AuditEntry, AuditRow, AuditStore } from "../domain/audit/audit.ts";
import { seqMax } from "../domain/ledger/ledger.ts";
import { remember } from "./made.ts";
import type { Row } from "./rows.ts";
import { type Dialect, readAll, run, type Script, type ScriptsOf } from "./statements.ts";

/** The columns of an entry that is added. The engine chooses `seq`. */
export const auditColumns = "at, key_id, request_id, action, target, details";

const listText = `SELECT audit.seq, audit.at, audit.key_id, audit.request_id, audit.action,
    audit.target, audit.details, keys.name
  FROM audit LEFT JOIN keys ON keys.id = audit.key_id
  WHERE audit.seq > $1::int8 AND audit.seq < $2::int8
    AND ($3::text IS NULL OR audit.action = $3::text)
    AND ($4::text IS NULL OR audit.key_id = $4::text)
    AND ($5::text IS NULL OR audit.target = $5::text)
  ORDER BY audit.seq DESC LIMIT $6::int8`;

export const auditReads: ScriptsOf<AuditStore, "listEntries"> = {
  listEntries: ({ after = 0, before = seqMax, action, keyId, target }, rowsMax) => {
    const wanted = [action ?? null, keyId ?? null, target ?? null];
    return readAll(toAuditRow, listText, [after, before, ...wanted, rowsMax]);
  },
};

/** Records a change in the audit log, in the same transaction, and what its request has made. */
export function* note({ addEntry }: Dialect, entry: AuditEntry): Script<void> {
  yield* remember(entry.once, entry.target ?? entry.requestId, entry.at);
  yield* run(addEntry, auditValues(entry));
}

/**
 * Records a change and announces it to every service. In this order: on PostgreSQL, every transaction
 * that locks the rows of both locks that of the version first.
 */
export function* announce(dialect: Dialect, entry: AuditEntry): Script<void> {
  yield* run(dialect.touchKeys);
  yield* note(dialect, entry);
}

/** Entries about changes that are stored elsewhere. */
export const auditWrites = (dialect: Dialect): ScriptsOf<AuditStore, "addEntry"> => ({
  addEntry: (entry) => note(dialect, entry),
});

/** The values of `auditColumns`. */
function auditValues(entry: AuditEntry): (string | number | null)[] {
  const { at, keyId, requestId, action, target, details } = entry;
  return [at, keyId, requestId, action, target, JSON.stringify(details)];
}

function toAuditRow(row: Row): AuditRow {
  return {
    seq: Number(row[0]),
    at: Number(row[1]),
    keyId: row[2] as string | null,
    requestId: row[3] as string | null,
    action: row[4] as AuditAction,
    target: row[5] as string | null,
    details: JSON.parse(row[6] as string),
    keyName: row[7] as string | null,
  };
}
