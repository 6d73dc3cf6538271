import { petNotFound } from "../../domain/ledger/inventory.ts";
import type { HeaderId } from "../api/contract/headers.ts";
import type { Success } from "../api/contract/operation.ts";
import { getLedgerHead, listChanges, listHistory } from "../api/history.ts";
import type { Declaration } from "../api/operation.ts";
import { listOrders } from "../api/orders.ts";
import { getDiff, getSnapshot } from "../api/snapshots.ts";
import type { AdminContract, AdminDeclaration } from "./operation.ts";

/** Headers that the API sends and the operator API does not: nothing of it may be stored. */
const replaced: readonly HeaderId[] = ["CacheCurrent", "CacheChanges", "CacheList"];

/** The contract of an operation of the API, for the operator API, where other headers are common. */
export function sharedContract(
  { contract: { success, ...contract } }: Declaration,
  tag: AdminContract["tag"],
): AdminContract {
  const statuses = Object.entries(success).map(([status, one]): [string, Success] => [
    status,
    { ...one, headers: one.headers?.filter((header) => !replaced.includes(header)) ?? [] },
  ]);
  return { ...contract, tag, success: Object.fromEntries(statuses) };
}

/** An operation of the API that operators can call, too. */
function shared(
  operation: Declaration,
  tag: AdminContract["tag"],
  changed: Partial<AdminContract> = {},
): AdminDeclaration {
  const { method, path, handle } = operation;
  return { method, path, contract: { ...sharedContract(operation, tag), ...changed }, handle };
}

export const sharedOperations = {
  listStockHistory: {
    ...shared(listHistory, "Stock", {
      messages: { ...listHistory.contract.messages, not_found: { not_found: petNotFound } },
    }),
    path: "/stock/{petId}/history",
  },
  listChanges: shared(listChanges, "Changes", {
    description: `${listChanges.contract.description} An operator key can have 200 of them.`,
  }),
  getLedgerHead: shared(getLedgerHead, "Changes"),
  getSnapshot: shared(getSnapshot, "Changes"),
  getDiff: shared(getDiff, "Changes"),
  listOrders: { ...shared(listOrders, "Orders"), path: "/orders" },
};
