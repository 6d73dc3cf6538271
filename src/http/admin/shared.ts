import { petNotFound } from "../../domain/ledger/inventory.ts";
import { getLedgerHead, listChanges, listHistory } from "../api/history.ts";
import type { Declaration } from "../api/operation.ts";
import { listOrders } from "../api/orders.ts";
import { getDiff, getSnapshot } from "../api/snapshots.ts";
import type { AdminContract, AdminDeclaration } from "./operation.ts";

/** An operation of the API that operators can call, too. */
function shared(
  operation: Declaration,
  tag: AdminContract["tag"],
  changed: Partial<AdminContract> = {},
): AdminDeclaration {
  const { method, path, handle } = operation;
  return { method, path, contract: { ...operation.contract, tag, ...changed }, handle };
}

export const sharedOperations = {
  listStockHistory: {
    ...shared(listHistory, "Stock", {
      messages: { ...listHistory.contract.messages, not_found: { not_found: petNotFound } },
    }),
    path: "/stock/{petId}/history",
  },
  listChanges: shared(listChanges, "Changes", {
    description: `${listChanges.contract.description} An operator key can have 200 open streams.`,
  }),
  getLedgerHead: shared(getLedgerHead, "Changes"),
  getSnapshot: shared(getSnapshot, "Changes"),
  getDiff: shared(getDiff, "Changes"),
  listOrders: { ...shared(listOrders, "Orders"), path: "/orders" },
};
