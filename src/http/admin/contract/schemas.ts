import { errorCodes } from "../../../domain/running/errors.ts";
import { errorSchema } from "../../api/contract/error-schema.ts";
import type { Schema } from "../../api/contract/schema.ts";
import { schemas as apiSchemas } from "../../api/operations.ts";
import { auditSchemas } from "./audit.ts";
import { backupSchemas } from "./backups.ts";
import { fileSchemas } from "./files.ts";
import { keySchemas } from "./key-schemas.ts";
import { serviceSchemas } from "./service.ts";
import { sessionSchemas } from "./session.ts";
import { stockSchemas } from "./stock-schemas.ts";
import { webhookSchemas } from "./webhook-schemas.ts";

/** The schemas of the API that the operator API also uses. */
const shared = [
  "LedgerHead",
  "LedgerRow",
  "Stock",
  "PetStatus",
  "VersionedItem",
  "AppliedChanges",
  "InventoryItem",
  "InventoryDifference",
  "Order",
  "OrderStatus",
];

/** All schemas of the operator API. */
export const adminSchemas: Readonly<Record<string, Schema>> = {
  ...sessionSchemas,
  ...keySchemas,
  ...auditSchemas,
  ...serviceSchemas,
  ...fileSchemas,
  ...webhookSchemas,
  ...backupSchemas,
  ...stockSchemas,
  Error: errorSchema(errorCodes),
  ...Object.fromEntries(shared.map((name) => [name, apiSchemas[name]!])),
};
