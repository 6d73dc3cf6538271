import { type AuditRow, auditActions, listAudit as listPage } from "../../domain/audit/audit.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { keyIdPattern, queryOf, readLimit, readSeq, singleValue } from "../api/parameters.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";

export const rowsPerPage = { initial: 100, max: 1_000 };

export async function listAudit({ store }: Context, call: Call): Promise<Reply> {
  const query = queryOf(call.request);
  const limit = readLimit(query, rowsPerPage);
  const filter = {
    before: readSeq(query, "before"),
    action: readAction(query),
    keyId: readMatch(query, "keyId", keyId, auditKeyIdRule),
    target: readMatch(query, "target", target, targetRule),
  };
  const { rows, nextBefore } = await listPage(store, filter, limit);
  const body = JSON.stringify(rows.map(describeRow));
  if (nextBefore === undefined) return { status: 200, body };
  const kept = [...query].filter(([name]) => ["limit", "action", "keyId", "target"].includes(name));
  const next = new URLSearchParams(kept);
  next.set("before", String(nextBefore));
  const { basePath, path } = call.operation;
  return { status: 200, body, headers: { Link: `<${basePath}${path}?${next}>; rel="next"` } };
}

function describeRow(row: AuditRow) {
  const { seq, at, keyId, keyName, requestId, action, target, details } = row;
  return {
    seq,
    at: new Date(at).toISOString(),
    keyId,
    keyName,
    requestId,
    action,
    target,
    details,
  };
}

export const actionRule = `Query parameter 'action' must be one of ${auditActions.join(", ")}.`;

function readAction(query: URLSearchParams) {
  const text = singleValue(query, "action");
  const action = auditActions.find((one) => one === text);
  if (text !== action) throw new ServiceError("invalid_request", actionRule);
  return action;
}

const keyId = new RegExp(keyIdPattern);
export const auditKeyIdRule =
  "Query parameter 'keyId' must be the id of a key: 'key_' and up to 32 letters and digits.";

export const targetPattern = "^[-.0-9A-Za-z_]{1,64}$";
const target = new RegExp(targetPattern);
export const targetRule =
  "Query parameter 'target' must be the id of a key, a webhook or a pet, or another name in the log.";

/** Databases do not accept every text in a query. */
function readMatch(query: URLSearchParams, name: string, pattern: RegExp, rule: string) {
  const text = singleValue(query, name);
  if (text !== undefined && !pattern.test(text)) throw new ServiceError("invalid_request", rule);
  return text;
}
