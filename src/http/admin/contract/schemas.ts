import type { Schema } from "../../api/contract/schema.ts";
import { schemas as apiSchemas } from "../../api/contract/schemas.ts";
import { backupSchemas } from "./backups.ts";
import { fileSchemas } from "./files.ts";
import { sessionSchemas } from "./session.ts";
import { webhookSchemas } from "./webhook-schemas.ts";

const { Error: errorSchema, Order, OrderStatus } = apiSchemas;

/** All schemas of the operator API. Those of the API that it uses are listed by name. */
export const adminSchemas: Readonly<Record<string, Schema>> = {
  ...sessionSchemas,
  ...fileSchemas,
  ...webhookSchemas,
  ...backupSchemas,
  Order: Order!,
  OrderStatus: OrderStatus!,
  Error: errorSchema!,
};
