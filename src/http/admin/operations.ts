import { roleScopes } from "../../domain/keys/keys.ts";
import { errorCodes } from "../../domain/running/errors.ts";
import { namesIn, tagged } from "../api/contract/contract.ts";
import { errorSchemas } from "../api/contract/errors.ts";
import type { Schema } from "../api/contract/schema.ts";
import { bodyRule } from "../api/declaration.ts";
import { schemas as apiSchemas } from "../api/operations.ts";
import type { Reply } from "../messages/reply.ts";
import { gated } from "../pipeline/gate.ts";
import {
  type AdminDeclaration,
  type AdminOperation,
  type AdminSettings,
  rolesOfTags,
} from "./admin-declaration.ts";
import { auditOperations, auditSchemas } from "./audit.ts";
import { backupOperations, backupSchemas } from "./backups.ts";
import { changeOperations } from "./changes.ts";
import { compressedRead, withCompression } from "./compression.ts";
import { madeSchemas, withIdempotencyKey } from "./contract/idempotency.ts";
import { keySchemas } from "./contract/key-schemas.ts";
import { stockSchemas } from "./contract/stock-schemas.ts";
import { webhookSchemas } from "./contract/webhook-schemas.ts";
import { exportOrders, exportPets } from "./exports.ts";
import { importOrders, importPets, importSchemas } from "./imports.ts";
import { keyOperations } from "./keys.ts";
import { petOperations } from "./pets.ts";
import { refusedOperations, refusedSchemas } from "./requests.ts";
import { serviceOperations, serviceSchemas } from "./service.ts";
import { sessionOperations, sessionSchemas } from "./session.ts";
import { ledgerOperations, listOrders, listStockHistory } from "./shared.ts";
import { stockOperations } from "./stock.ts";
import { stocktakeOperations, stocktakeSchemas } from "./stocktakes.ts";
import { undoOperations, undoSchemas } from "./undo.ts";
import { getKeyUsage, getUsage } from "./usage.ts";
import { webhookOperations } from "./webhooks.ts";

export const adminBasePath = "/admin";

/** On every response. Nothing of this API may be stored, or loaded by a page of another origin. */
export const adminHeaders = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** All operations of the operator API by id. Routes, its description and many tests are made from this. */
const table = {
  ...tagged("Session", sessionOperations),
  ...tagged("Keys", { ...keyOperations, getKeyUsage, ...refusedOperations }),
  ...tagged("Service", { ...auditOperations, ...serviceOperations, getUsage }),
  ...tagged("Webhooks", webhookOperations),
  ...tagged("Backups", backupOperations),
  ...tagged("Stock", { ...stockOperations, ...stocktakeOperations, listStockHistory }),
  ...tagged("Changes", { ...ledgerOperations, ...changeOperations, ...undoOperations }),
  ...tagged("Pets", { ...petOperations, importPets, exportPets }),
  ...tagged("Orders", { listOrders, importOrders, exportOrders }),
};

export type AdminOperationId = keyof typeof table;

/** All schemas that operations of the operator API can use. */
export const adminSchemas: Readonly<Record<string, Schema>> = {
  ...apiSchemas,
  ...sessionSchemas,
  ...keySchemas,
  ...auditSchemas,
  ...serviceSchemas,
  ...importSchemas,
  ...webhookSchemas,
  ...backupSchemas,
  ...stockSchemas,
  ...stocktakeSchemas,
  ...undoSchemas,
  ...refusedSchemas,
  ...madeSchemas,
  ...errorSchemas(errorCodes),
};

export function adminOperations(settings: AdminSettings): AdminOperation[] {
  return Object.entries<AdminDeclaration & Pick<AdminOperation, "tag">>(table).map(
    ([id, { body, ...declared }]) => {
      const { method, tag } = declared;
      const isRead = method === "GET";
      const contract = isRead
        ? withCompression(declared.contract)
        : withIdempotencyKey(declared.contract, declared.kind);
      const [reading, changing] = rolesOfTags[tag];
      const operation = gated({
        ...declared,
        id,
        ...bodyRule({ body, contract }, settings),
        contract,
        scope: roleScopes[isRead ? reading : changing],
        stability: "beta" as const,
        cacheControl: adminHeaders["Cache-Control"],
        known: namesIn(contract, adminSchemas),
      });
      if (!isRead) return operation;
      return {
        ...operation,
        async handle(context, call) {
          return compressedRead(notStored(await operation.handle(context, call)), call.request);
        },
      };
    },
  );
}

/** Handlers of the API allow caches to store what they return. */
function notStored(reply: Reply): Reply {
  const cacheControl = reply.headers?.["Cache-Control"];
  if (cacheControl === undefined) return reply;
  const transform = cacheControl.includes("no-transform") ? ", no-transform" : "";
  return { ...reply, headers: { ...reply.headers, "Cache-Control": `no-store${transform}` } };
}
