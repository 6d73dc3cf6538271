import { petsDeprecatedAt } from "../../domain/catalogue/pets.ts";
import type { Scope } from "../../domain/keys/keys.ts";
import { jsonTypes, mergePatchTypes } from "../messages/body.ts";
import type { Operation } from "../pipeline/operation.ts";
import { applyChanges } from "./changes.ts";
import * as changes from "./contract/changes.ts";
import * as history from "./contract/history.ts";
import * as inventory from "./contract/inventory.ts";
import { type Contract, namesIn } from "./contract/operation.ts";
import * as orders from "./contract/orders.ts";
import * as pets from "./contract/pets.ts";
import { schemas } from "./contract/schemas.ts";
import * as snapshots from "./contract/snapshots.ts";
import { getInventory, updateInventory } from "./entries.ts";
import { getLedgerHead, listChanges, listHistory } from "./history.ts";
import { listInventory } from "./inventory.ts";
import { listOrders } from "./orders.ts";
import { getPet } from "./pets.ts";
import { getDiff, getSnapshot } from "./snapshots.ts";

export interface ApiOperation extends Operation {
  readonly scope: Scope;
  /** Its part of the API description. */
  readonly contract: Contract;
}

export interface ApiSettings {
  readonly petsSunsetAt: number;
  readonly bodyBytesMax: number;
  readonly changesBytesMax: number;
}

export const apiBasePath = "/v1";

/** All operations of the API. Routes, the API description and many tests are made from this table. */
export function apiOperations(settings: ApiSettings): ApiOperation[] {
  const { petsSunsetAt, bodyBytesMax, changesBytesMax } = settings;
  const table: readonly ApiOperation[] = [
    {
      id: "listInventory",
      method: "GET",
      path: "/inventory",
      scope: "inventory:read",
      stability: "stable",
      contract: inventory.listInventory,
      handle: listInventory,
    },
    {
      id: "getInventory",
      method: "GET",
      path: "/inventory/{petId}",
      scope: "inventory:read",
      stability: "beta",
      cacheControl: "private, no-cache",
      contract: inventory.getInventory,
      handle: getInventory,
    },
    {
      id: "updateInventory",
      method: "PATCH",
      path: "/inventory/{petId}",
      scope: "inventory:write",
      stability: "experimental",
      body: { mediaTypes: mergePatchTypes, bytesMax: bodyBytesMax },
      contract: inventory.updateInventory,
      handle: updateInventory,
    },
    {
      id: "listHistory",
      method: "GET",
      path: "/inventory/{petId}/history",
      scope: "history:read",
      stability: "beta",
      contract: history.listHistory,
      handle: listHistory,
    },
    {
      id: "listChanges",
      method: "GET",
      path: "/changes",
      scope: "history:read",
      stability: "beta",
      contract: history.listChanges,
      handle: listChanges,
    },
    {
      id: "applyChanges",
      method: "POST",
      path: "/changes",
      scope: "inventory:write",
      stability: "beta",
      body: { mediaTypes: jsonTypes, bytesMax: changesBytesMax },
      contract: changes.applyChanges,
      handle: applyChanges,
    },
    {
      id: "getLedgerHead",
      method: "GET",
      path: "/changes/head",
      scope: "history:read",
      stability: "beta",
      contract: history.getLedgerHead,
      handle: getLedgerHead,
    },
    {
      id: "getSnapshot",
      method: "GET",
      path: "/snapshots/{moment}",
      scope: "history:read",
      stability: "beta",
      contract: snapshots.getSnapshot,
      handle: getSnapshot,
    },
    {
      id: "getDiff",
      method: "GET",
      path: "/snapshots/{moment}/diff",
      scope: "history:read",
      stability: "beta",
      contract: snapshots.getDiff,
      handle: getDiff,
    },
    {
      id: "getPet",
      method: "GET",
      path: "/pets/{petId}",
      scope: "pets:read",
      stability: "stable",
      deprecation: { since: petsDeprecatedAt, sunsetAt: petsSunsetAt },
      contract: pets.getPet,
      handle: getPet,
    },
    {
      id: "listOrders",
      method: "GET",
      path: "/store/orders",
      scope: "orders:read",
      stability: "stable",
      contract: orders.listOrders,
      handle: listOrders,
    },
  ];
  return table.map(strict);
}

/** Operations that the specification does not have reject names that they do not know. */
function strict(operation: ApiOperation): ApiOperation {
  if (operation.stability !== "beta") return operation;
  return { ...operation, known: namesIn(operation.contract, schemas) };
}
