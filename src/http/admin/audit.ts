import { type AuditRow, auditActions, listAudit as listPage } from "../../domain/audit/audit.ts";
import { seqMax } from "../../domain/ledger/ledger.ts";
import { rowsExaminedMax } from "../../domain/ledger/store.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import {
  exampleKeyId,
  exampleOperatorId,
  exampleRequestId,
  exampleTime,
} from "../api/contract/examples.ts";
import {
  boundedInteger,
  reference,
  responseObject,
  type Schema,
  seq,
  textOrNull,
  time,
} from "../api/contract/schema.ts";
import {
  keyIdPattern,
  limitRule,
  queryOf,
  readLimit,
  readSeq,
  seqRule,
  singleValue,
} from "../api/parameters.ts";
import type { AdminDeclaration } from "./operation.ts";

const exampleRow = {
  seq: 17,
  at: exampleTime,
  keyId: exampleOperatorId,
  keyName: "Ada",
  requestId: exampleRequestId,
  action: "key.changed",
  target: exampleKeyId,
  details: { plan: "pro" },
};

export const auditSchemas: Readonly<Record<string, Schema>> = {
  AuditRow: responseObject(
    "Something that an operator did. Rows are never changed or removed.",
    {
      seq: seq("The number of the row."),
      at: time("When it was done."),
      keyId: textOrNull("The ID of the operator key, or null for a command."),
      keyName: textOrNull("The current name of that key, or null."),
      requestId: textOrNull("The `X-Request-Id` of the request, or null for a command."),
      action: {
        type: "string",
        description: `What was done: ${auditActions.map((one) => `\`${one}\``).join(", ")}. Later versions can add actions.`,
      },
      target: textOrNull(
        "The ID of the key, webhook or pet, the name of the backup, or null if there is no single one.",
      ),
      details: { type: "object", description: "What was changed. It never contains secrets." },
    },
    exampleRow,
  ),
};

const rowsPerPage = { initial: 100, max: 1_000 };

const actionRule = `Query parameter 'action' must be one of ${auditActions.join(", ")}.`;

const keyId = new RegExp(keyIdPattern);

const auditKeyIdRule =
  "Query parameter 'keyId' must be the id of a key: 'key_' and up to 32 letters and digits.";

const targetPattern = "^[-.0-9A-Za-z_]{1,64}$";

const target = new RegExp(targetPattern);

const targetRule =
  "Query parameter 'target' must be the id of a key, a webhook or a pet, or another name in the log.";

const listAudit: AdminDeclaration = {
  method: "GET",
  path: "/audit",
  contract: {
    tag: "Service",
    summary: "List what operators did",
    description: `Returns one page of the audit log, newest first. It has everything that operators changed, except stock, which is in the ledger. If older rows follow, \`Link\` contains the URL of the next page. You can combine the filters. With a filter, the service examines at most ${rowsExaminedMax.toLocaleString("en")} rows for one page, so a page can be short or empty and still have a \`Link\`.`,
    parameters: [
      {
        name: "before",
        in: "query",
        description: "Only rows with a smaller `seq`.",
        schema: boundedInteger(0, seqMax),
        example: 18,
      },
      {
        name: "limit",
        in: "query",
        description: "The maximum number of rows on the page.",
        schema: { ...boundedInteger(1, rowsPerPage.max), default: rowsPerPage.initial },
        example: 50,
      },
      {
        name: "action",
        in: "query",
        description: "Only this action.",
        schema: { type: "string", enum: auditActions },
        example: "key.changed",
      },
      {
        name: "keyId",
        in: "query",
        description: "Only actions of the operator with this key.",
        schema: { type: "string", pattern: keyIdPattern },
        example: exampleOperatorId,
      },
      {
        name: "target",
        in: "query",
        description:
          "Only actions on the key, webhook or pet with this ID, or on the backup with this name.",
        schema: { type: "string", pattern: targetPattern },
        example: exampleKeyId,
      },
    ],
    success: {
      200: {
        description: "One page of the audit log.",
        headers: ["NextPage"],
        schema: { type: "array", items: reference("schemas", "AuditRow") },
      },
    },
    messages: {
      invalid_request: {
        invalid_before: seqRule("before"),
        invalid_limit: limitRule(rowsPerPage.max),
        invalid_action: actionRule,
        invalid_key: auditKeyIdRule,
        invalid_target: targetRule,
      },
    },
  },
  async handle({ store }, call) {
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
    const kept = [...query].filter(([name]) =>
      ["limit", "action", "keyId", "target"].includes(name),
    );
    const next = new URLSearchParams(kept);
    next.set("before", String(nextBefore));
    const { basePath, path } = call.operation;
    return { status: 200, body, headers: { Link: `<${basePath}${path}?${next}>; rel="next"` } };
  },
};

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

function readAction(query: URLSearchParams) {
  const text = singleValue(query, "action");
  const action = auditActions.find((one) => one === text);
  if (text !== action) throw new ServiceError("invalid_request", actionRule);
  return action;
}

/** Databases do not accept every string in a query. */
function readMatch(query: URLSearchParams, name: string, pattern: RegExp, rule: string) {
  const text = singleValue(query, name);
  if (text !== undefined && !pattern.test(text)) throw new ServiceError("invalid_request", rule);
  return text;
}

export const auditOperations = { listAudit };
