import { petNotFound } from "../../domain/ledger/inventory.ts";
import { getLedgerHead, listChanges, listHistory } from "../api/history.ts";
import { listOrders as apiOrders } from "../api/orders.ts";
import { getDiff, getSnapshot } from "../api/snapshots.ts";

/** The operations of the API that operators can call, too. All of them read. */

const role = "viewer" as const;

export const listStockHistory = {
  ...listHistory,
  role,
  path: "/stock/{petId}/history",
  contract: { ...listHistory.contract, messages: { not_found: { not_found: petNotFound } } },
};

export const ledgerOperations = {
  listChanges: {
    ...listChanges,
    role,
    contract: {
      ...listChanges.contract,
      description: `${listChanges.contract.description} An operator key can have 200 open streams.`,
    },
  },
  getLedgerHead: { ...getLedgerHead, role },
  getSnapshot: { ...getSnapshot, role },
  getDiff: { ...getDiff, role },
};

export const listOrders = { ...apiOrders, role, path: "/orders" };
