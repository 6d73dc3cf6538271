import type { AuditAction, AuditEntry, AuditFilter, AuditRow } from "../domain/audit/audit.ts";
import { seqMax } from "../domain/ledger/ledger.ts";
import { type Row, toNumber } from "./rows.ts";

/** The columns of an entry that is added. The engine chooses `seq`. */
export const auditColumns = "at, key_id, request_id, action, target, details";

/** For a query that joins `audit` and `keys`. */
export const namedAuditColumns = `audit.seq, audit.at, audit.key_id, audit.request_id, audit.action,
  audit.target, audit.details, keys.name`;

/** The values of `auditColumns`. */
export function auditValues(entry: AuditEntry): (string | number | null)[] {
  const { at, keyId, requestId, action, target, details } = entry;
  return [at, keyId, requestId, action, target, JSON.stringify(details)];
}

/** The values of a filter: after, before, action, key, target. Null accepts any. */
export function filterValues({ after = 0, before = seqMax, action, keyId, target }: AuditFilter) {
  return [after, before, action ?? null, keyId ?? null, target ?? null];
}

export function toAuditRow(row: Row): AuditRow {
  return {
    seq: toNumber(row[0])!,
    at: toNumber(row[1])!,
    keyId: row[2] as string | null,
    requestId: row[3] as string | null,
    action: row[4] as AuditAction,
    target: row[5] as string | null,
    details: JSON.parse(row[6] as string),
    keyName: row[7] as string | null,
  };
}
