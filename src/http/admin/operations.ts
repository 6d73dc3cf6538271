import { operatorScope } from "../../domain/keys/keys.ts";
import { namesIn } from "../api/contract/operation.ts";
import { jsonTypes, mergePatchTypes } from "../messages/body.ts";
import type { Reply } from "../messages/reply.ts";
import { listAudit } from "./audit.ts";
import { compressedRead, withCompression } from "./compression.ts";
import * as audit from "./contract/audit.ts";
import * as keys from "./contract/keys.ts";
import { adminSchemas } from "./contract/schemas.ts";
import * as service from "./contract/service.ts";
import * as session from "./contract/session.ts";
import { changeKey, createKey, getKey, liftBan, listKeys, revokeKey, rotateKey } from "./keys.ts";
import type { AdminOperation, AdminRow, AdminSettings } from "./operation.ts";
import { backupRows } from "./rows/backups.ts";
import { fileRows } from "./rows/files.ts";
import { stockRows } from "./rows/stock.ts";
import { webhookRows } from "./rows/webhooks.ts";
import { rejectOtherOrigins } from "./same-origin.ts";
import { getService } from "./service.ts";
import { endSession, getSession, startSession } from "./session.ts";

/**
 * The operator API. To add an operation:
 *
 * 1. Add a row to the table below, or to one of its parts in src/http/admin/rows/. All rows get the
 *    scope `operator` and the stability `beta`. An operation that reads a body has `body`, as in
 *    src/http/api/operations.ts.
 * 2. Write the handler in src/http/admin/, in the file of its noun. It gets the Context and the Call,
 *    and returns a Reply. A handler of src/http/api/ can be a row here, too. What only operators need
 *    of the service is in `context.admin`: src/http/pipeline/context.ts, filled by src/compose/admin.ts.
 * 3. Read a JSON body with `readFields` and `textField` etc. in src/http/admin/fields.ts, parameters
 *    with src/http/api/parameters.ts. Break a rule with `InvalidField` or another ServiceError.
 * 4. Pass `actorOf(call)` to what changes something: the ledger and the audit log name the operator.
 * 5. A list is a JSON array. If more follows, add the header Link, as in src/http/admin/audit.ts.
 * 6. Describe it in src/http/admin/contract/, in the file of its noun: parameters and fields that are not
 *    described there are rejected. New schemas are in the same file, and
 *    src/http/admin/contract/schemas.ts collects them. Then run `bun scripts/openapi.ts`.
 * 7. Add an example to test/support/admin/operation-examples.ts: test/admin/operations.test.ts sends
 *    it, and every response is checked against openapi-admin.json.
 */

export const adminBasePath = "/admin";

/** On every response. Nothing of this API may be stored, or loaded by a page of another origin. */
export const adminHeaders = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** All operations of the operator API. Routes, its description and many tests are made from this. */
export function adminOperations(settings: AdminSettings): AdminOperation[] {
  const { bodyBytesMax } = settings;
  const json = { mediaTypes: jsonTypes, bytesMax: bodyBytesMax };
  const mergePatch = { mediaTypes: mergePatchTypes, bytesMax: bodyBytesMax };
  const table: readonly AdminRow[] = [
    {
      id: "startSession",
      method: "POST",
      path: "/session",
      contract: session.startSession,
      handle: startSession,
    },
    {
      id: "getSession",
      method: "GET",
      path: "/session",
      contract: session.getSession,
      handle: getSession,
    },
    {
      id: "endSession",
      method: "DELETE",
      path: "/session",
      contract: session.endSession,
      handle: endSession,
    },
    {
      id: "listKeys",
      method: "GET",
      path: "/keys",
      contract: keys.listKeys,
      handle: listKeys,
    },
    {
      id: "createKey",
      method: "POST",
      path: "/keys",
      body: json,
      contract: keys.createKey,
      handle: createKey,
    },
    {
      id: "getKey",
      method: "GET",
      path: "/keys/{keyId}",
      contract: keys.getKey,
      handle: getKey,
    },
    {
      id: "changeKey",
      method: "PATCH",
      path: "/keys/{keyId}",
      body: mergePatch,
      contract: keys.changeKey,
      handle: changeKey,
    },
    {
      id: "rotateKey",
      method: "POST",
      path: "/keys/{keyId}/rotate",
      body: json,
      contract: keys.rotateKey,
      handle: rotateKey,
    },
    {
      id: "revokeKey",
      method: "POST",
      path: "/keys/{keyId}/revoke",
      contract: keys.revokeKey,
      handle: revokeKey,
    },
    {
      id: "liftBan",
      method: "POST",
      path: "/keys/{keyId}/unban",
      contract: keys.liftBan,
      handle: liftBan,
    },
    {
      id: "listAudit",
      method: "GET",
      path: "/audit",
      contract: audit.listAudit,
      handle: listAudit,
    },
    {
      id: "getService",
      method: "GET",
      path: "/service",
      contract: service.getService,
      handle: getService,
    },
    ...fileRows,
    ...webhookRows(settings),
    ...backupRows,
    ...stockRows(settings),
  ];
  return table.map(guarded);
}

function guarded(row: AdminRow): AdminOperation {
  const isRead = row.method === "GET";
  return {
    ...row,
    contract: isRead ? withCompression(row.contract) : row.contract,
    scope: operatorScope,
    stability: "beta",
    cacheControl: adminHeaders["Cache-Control"],
    known: namesIn(row.contract, adminSchemas),
    async handle(context, call) {
      rejectOtherOrigins(call);
      const reply = notStored(await row.handle(context, call));
      return isRead ? compressedRead(reply, call.request) : reply;
    },
  };
}

/** Handlers of the API allow caches to store what they return. */
function notStored(reply: Reply): Reply {
  const cacheControl = reply.headers?.["Cache-Control"];
  if (cacheControl === undefined) return reply;
  const transform = cacheControl.includes("no-transform") ? ", no-transform" : "";
  return { ...reply, headers: { ...reply.headers, "Cache-Control": `no-store${transform}` } };
}
