import { auditActions } from "../../../domain/audit/audit.ts";
import { seqMax } from "../../../domain/ledger/ledger.ts";
import { rowsExaminedMax } from "../../../domain/ledger/store.ts";
import {
  boundedInteger,
  reference,
  responseObject,
  type Schema,
  seq,
} from "../../api/contract/schema.ts";
import { keyIdPattern, limitRule, seqRule } from "../../api/parameters.ts";
import { actionRule, auditKeyIdRule, rowsPerPage, targetPattern, targetRule } from "../audit.ts";
import { exampleKeyId, exampleOperatorId, exampleRequestId, exampleTime } from "./examples.ts";
import { textOrNull, time } from "./fields.ts";
import type { AdminContract } from "./operation.ts";

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
      target: textOrNull("The ID of what was changed, or null if there is no single one."),
      details: { type: "object", description: "What was changed. It never contains secrets." },
    },
    exampleRow,
  ),
};

export const listAudit: AdminContract = {
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
      description: "The number of rows on the page.",
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
      description: "Only what the operator with this key did.",
      schema: { type: "string", pattern: keyIdPattern },
      example: exampleOperatorId,
    },
    {
      name: "target",
      in: "query",
      description:
        "Only what was done to the key, webhook or pet with this ID, or to the backup with this name.",
      schema: { type: "string", pattern: targetPattern },
      example: exampleKeyId,
    },
  ],
  success: {
    200: {
      description: "One page of the audit log.",
      headers: ["NextPage"],
      schema: { type: "array", items: reference("schemas", "AuditRow") },
      examples: { rows: { summary: "One row", value: [exampleRow] } },
    },
  },
  errors: ["invalid_request"],
  messages: {
    invalid_request: {
      invalid_before: seqRule("before"),
      invalid_limit: limitRule(rowsPerPage.max),
      invalid_action: actionRule,
      invalid_key: auditKeyIdRule,
      invalid_target: targetRule,
    },
  },
};
