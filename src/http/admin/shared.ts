import { petNotFound } from "../../domain/ledger/inventory.ts";
import { getLedgerHead, listChanges, listHistory } from "../api/history.ts";
import { listOrders as apiOrders } from "../api/orders.ts";
import { getDiff, getSnapshot } from "../api/snapshots.ts";

/** The operations of the API that operators can call, too. */

export const listStockHistory = {
  ...listHistory,
  path: "/stock/{petId}/history",
  contract: { ...listHistory.contract, messages: { not_found: { not_found: petNotFound } } },
};

export const ledgerOperations = {
  listChanges: {
    ...listChanges,
    contract: {
      ...listChanges.contract,
      description: `${listChanges.contract.description} An operator key can have 200 open streams.`,
    },
  },
  getLedgerHead,
  getSnapshot,
  getDiff,
};

export const listOrders = { ...apiOrders, path: "/orders" };
