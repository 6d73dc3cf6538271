import type { AuditEntry } from "../../src/domain/audit/audit.ts";

/** For tests to which the audit log does not matter. */
export const anEntry: AuditEntry = {
  keyId: null,
  requestId: null,
  action: "key.changed",
  target: null,
  details: {},
  at: 0,
};
