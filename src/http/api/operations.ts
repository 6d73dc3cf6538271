import { apiErrorCodes } from "../../domain/running/errors.ts";
import { gated } from "../pipeline/gate.ts";
import { changeOperations, changeSchemas } from "./changes.ts";
import { namesIn, tagged } from "./contract/contract.ts";
import { errorSchemas } from "./contract/errors.ts";
import type { Schema } from "./contract/schema.ts";
import { type ApiOperation, type ApiSettings, bodyRule, type Declaration } from "./declaration.ts";
import { historyOperations, historySchemas } from "./history.ts";
import { inventoryOperations, inventorySchemas } from "./inventory.ts";
import { orderOperations, orderSchemas } from "./orders.ts";
import { petOperations, petSchemas } from "./pets.ts";
import { getRequest, requestSchemas } from "./requests.ts";
import { snapshotOperations, snapshotSchemas } from "./snapshots.ts";

export const apiBasePath = "/v1";

/** All operations of the API by id. Routes, the API description and many tests are made from this. */
const table = {
  ...tagged("Inventory", inventoryOperations),
  ...tagged("History", historyOperations),
  ...tagged("Inventory", { ...changeOperations, getRequest }),
  ...tagged("History", snapshotOperations),
  ...tagged("Pets", petOperations),
  ...tagged("Orders", orderOperations),
};

type Tagged = Declaration & Pick<ApiOperation, "tag">;

export type ApiOperationId = keyof typeof table;

/** The named schemas of the API. */
export const schemas: Readonly<Record<string, Schema>> = {
  ...inventorySchemas,
  ...changeSchemas,
  ...petSchemas,
  ...orderSchemas,
  ...historySchemas,
  ...snapshotSchemas,
  ...requestSchemas,
  ...errorSchemas(apiErrorCodes),
};

export function apiOperations(settings: ApiSettings): ApiOperation[] {
  return Object.entries<Tagged>(table).map(([id, { body, deprecation, ...declared }]) =>
    gated({
      id,
      ...declared,
      ...bodyRule({ body, ...declared }, settings),
      ...(deprecation && {
        deprecation: { ...deprecation, sunsetAt: settings[deprecation.sunsetAt] },
      }),
      // Operations that the specification does not have reject names that they do not know.
      ...(declared.stability === "beta" && { known: namesIn(declared.contract, schemas) }),
    }),
  );
}
