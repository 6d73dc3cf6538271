import { listOrders } from "../../api/orders.ts";
import * as contract from "../contract/files.ts";
import { exportOrders, exportPets } from "../exports.ts";
import { importOrders, importPets } from "../imports.ts";
import type { AdminRow } from "../operation.ts";

/**
 * Files with pets and orders, and the list of orders. Imports have no `body`: they accept any media
 * type, and their length has a setting of its own.
 */
export const fileRows: readonly AdminRow[] = [
  {
    id: "importPets",
    method: "POST",
    path: "/pets/import",
    contract: contract.importPets,
    handle: importPets,
  },
  {
    id: "exportPets",
    method: "GET",
    path: "/pets/export",
    contract: contract.exportPets,
    handle: exportPets,
  },
  {
    id: "listOrders",
    method: "GET",
    path: "/orders",
    contract: contract.listOrders,
    handle: listOrders.handle,
  },
  {
    id: "importOrders",
    method: "POST",
    path: "/orders/import",
    contract: contract.importOrders,
    handle: importOrders,
  },
  {
    id: "exportOrders",
    method: "GET",
    path: "/orders/export",
    contract: contract.exportOrders,
    handle: exportOrders,
  },
];
