import { type AuditRow, auditActions, listAudit as listPage } from "../../domain/audit/audit.ts";
import { roleOf } from "../../domain/keys/keys.ts";
import { rowsExaminedMax } from "../../domain/values/bounds.ts";
import { inOrder } from "../../domain/values/json.ts";
import { jsonList } from "../api/contract/contract.ts";
import {
  exampleKeyId,
  exampleOperatorId,
  exampleRequestId,
  exampleTime,
} from "../api/contract/examples.ts";
import * as schema from "../api/contract/schema.ts";
import { nextPage, pageReply } from "../api/list-pages.ts";
import {
  choiceParameter,
  integerParameter,
  keyIdPattern,
  patternParameter,
  readParameter,
  readParameters,
  seqBounds,
} from "../api/parameters.ts";
import { queryOf } from "../messages/fields.ts";
import type { AdminDeclaration } from "./admin-declaration.ts";

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

const rowFields = {
  seq: schema.seq("The number of the row."),
  at: schema.time("When it was done."),
  keyId: schema.textOrNull("The ID of the operator key, or null for a command."),
  keyName: schema.textOrNull("The current name of that key, or null."),
  requestId: schema.textOrNull("The `X-Request-Id` of the request, or null for a command."),
  action: schema.text(
    `What was done: ${auditActions.map((one) => `\`${one}\``).join(", ")}. Later versions can add actions.`,
  ),
  target: schema.textOrNull(
    "The ID of the key, webhook or pet, the name of the backup, or null if there is no single one.",
  ),
  details: { type: "object", description: "What was changed. It never contains secrets." },
};
const rowNames = Object.keys(rowFields) as (keyof typeof rowFields)[];

export const auditSchemas: Readonly<Record<string, schema.Schema>> = {
  AuditRow: schema.responseObject(
    "Something that an operator did. Rows are never changed or removed.",
    rowFields,
    exampleRow,
  ),
};

export const rowsPerPage = { min: 1, initial: 100, max: 1_000 };

export const before = integerParameter("before", seqBounds, "Only rows with a smaller `seq`.", 18);
export const limit = integerParameter(
  "limit",
  rowsPerPage,
  "The maximum number of rows on the page.",
  50,
);
const action = choiceParameter("action", auditActions, "Only this action.", "key.changed");

const keyId = patternParameter(
  "keyId",
  keyIdPattern,
  "must be the id of a key: 'key_' and up to 32 letters and digits",
  "Only actions of the operator with this key.",
  exampleOperatorId,
);

const target = patternParameter(
  "target",
  "^[-.0-9A-Za-z_]{1,64}$",
  "must be the id of a key, a webhook or a pet, or another name in the log",
  "Only actions on the key, webhook or pet with this ID, or on the backup with this name.",
  exampleKeyId,
);

/** Only owners see keys, webhooks and backups. The others see that somebody changed or made one. */
const ownersAction = /^(key|ban|webhook|backup)\./;

const listAudit: AdminDeclaration = {
  method: "GET",
  path: "/audit",
  contract: {
    summary: "List what operators did",
    description: `Returns one page of the audit log, newest first. It has everything that operators changed, except stock, which is in the ledger. Only owners see the details of rows about keys, webhooks and backups. If older rows follow, \`Link\` contains the URL of the next page. You can combine the filters. With a filter, the service examines at most ${rowsExaminedMax.toLocaleString("en")} rows for one page, so a page can be short or empty and still have a \`Link\`.`,
    parameters: [before, limit, action, keyId, target],
    success: { 200: jsonList("One page of the audit log.", "AuditRow", { headers: ["NextPage"] }) },
  },
  async handle({ store }, call) {
    const query = queryOf(call.request);
    const size = readParameter(query, limit) ?? rowsPerPage.initial;
    const filter = readParameters(query, { before, action, keyId, target });
    const { rows, next } = await listPage(store, filter, size);
    const isOwner = roleOf(call.caller) === "owner";
    const items = rows.map((row) => JSON.stringify(describeRow(row, isOwner)));
    return pageReply(call, { items, ...nextPage("before", next) });
  },
};

function describeRow(row: AuditRow, isOwner: boolean) {
  const details = isOwner || !ownersAction.test(row.action) ? row.details : {};
  return inOrder({ ...row, at: new Date(row.at).toISOString(), details }, rowNames);
}

export const auditOperations = { listAudit };
