import { adjustInventory, type ComputeQuantity } from "./adjust.js";
import { type ApplyOptions, applyChanges, type StockChange } from "./changes.js";
import type { InventoryEntry } from "./entry.js";
import type { Id } from "./id.js";
import { InventoryClient } from "./inventory-client.js";
import {
  type ChangesOptions,
  type ChangesPage,
  eachChange,
  eachHistoryRow,
  getLedgerHead,
  type HistoryOptions,
  type HistoryPage,
  listChanges,
  listHistory,
} from "./ledger.js";
import type { Moment } from "./moment.js";
import type { AdjustOptions, CallOptions } from "./options.js";
import { eachOrder, type ListOrdersOptions, listOrders, type OrderPage } from "./orders.js";
import { getPet } from "./pets.js";
import { type ApiPromise, apiPromise } from "./promise.js";
import { getRequest } from "./requests.js";
import { getDiff, getSnapshot } from "./snapshots.js";
import type {
  InventoryDifference,
  InventoryItem,
  LedgerHead,
  LedgerRow,
  Order,
  Pet,
  RequestOutcome,
  VersionedItem,
} from "./types.js";
import { type Watch, type WatchOptions, watchFeed } from "./watch.js";

/** A client for all operations of the Pet Store Inventory Service. */
export class PetstoreClient extends InventoryClient {
  /**
   * Sets the stock count of one pet to a function of its current entry. If another client changes the
   * entry meanwhile, this reads it and calls the function again, so no change is overwritten.
   * Rejects with a ConflictError after `roundsMax` conflicts. If the function throws, the call
   * rejects with that error and nothing is changed. Beta.
   */
  adjustInventory(
    petId: Id,
    compute: ComputeQuantity,
    options: AdjustOptions = {},
  ): ApiPromise<InventoryEntry> {
    return apiPromise(adjustInventory(this.transport, petId, compute, options));
  }

  /**
   * Applies 1 to 1,000 changes in order, all or none. Returns the resulting entries in the order of
   * the changes. A pet may appear more than once. Beta.
   *
   * Rejects with `not_found`, `insufficient_stock` or `version_conflict`; the message names the
   * change. No change is applied then. With `dryRun`, no change is applied in any case: the result is
   * what it would be.
   */
  applyChanges(
    changes: readonly StockChange[],
    options: ApplyOptions = {},
  ): ApiPromise<VersionedItem[]> {
    return apiPromise(applyChanges(this.transport, changes, options));
  }

  /** Iterates over the changes of one pet, the newest first. Fetches pages as needed. Beta. */
  history(petId: Id, options: HistoryOptions = {}): AsyncGenerator<LedgerRow, void, undefined> {
    return eachHistoryRow(this.transport, petId, options);
  }

  /** Returns one page of the changes of one pet, the newest first. Beta. */
  listHistory(petId: Id, options: HistoryOptions = {}): ApiPromise<HistoryPage> {
    return apiPromise(listHistory(this.transport, petId, options));
  }

  /**
   * Iterates over the changes of all pets, the oldest first, up to the last one. Fetches pages as
   * needed. Beta.
   */
  changes(options: ChangesOptions = {}): AsyncGenerator<LedgerRow, void, undefined> {
    return eachChange(this.transport, options);
  }

  /** Returns one page of the changes of all pets, the oldest first. Beta. */
  listChanges(options: ChangesOptions = {}): ApiPromise<ChangesPage> {
    return apiPromise(listChanges(this.transport, options));
  }

  /**
   * Iterates over the changes of all pets as they happen, each one once and in order. Reconnects by
   * itself and continues where it was. Rejects only with an error that a new connection cannot solve,
   * such as a revoked key. Beta.
   */
  watch(options: WatchOptions = {}): Watch {
    return watchFeed(this.transport, options);
  }

  /** Returns what became of a request of this key, by the `requestId` of its error. Beta. */
  getRequest(requestId: string, options: CallOptions = {}): ApiPromise<RequestOutcome> {
    return apiPromise(getRequest(this.transport, requestId, options));
  }

  /** Returns the `seq` and the hash of the last change. Beta. */
  ledgerHead(options: CallOptions = {}): ApiPromise<LedgerHead> {
    return apiPromise(getLedgerHead(this.transport, options));
  }

  /**
   * Returns the stock entries of all pets as they were at a time, or after the change with a `seq`.
   * A number is a `seq`; pass a time as a Date or as text. Beta.
   */
  snapshot(moment: Moment, options: CallOptions = {}): ApiPromise<InventoryItem[]> {
    return apiPromise(getSnapshot(this.transport, moment, options));
  }

  /** Returns the entries that differ between two moments, in ascending order of `petId`. Beta. */
  diff(from: Moment, to: Moment, options: CallOptions = {}): ApiPromise<InventoryDifference[]> {
    return apiPromise(getDiff(this.transport, from, to, options));
  }

  /**
   * Returns the record of one pet.
   * @deprecated The service returns 410 after the date in its `Sunset` header.
   */
  getPet(petId: Id, options: CallOptions = {}): ApiPromise<Pet> {
    return apiPromise(getPet(this.transport, petId, options));
  }

  /** Returns one page of orders, in descending order of their ids. */
  listOrders(options: ListOrdersOptions = {}): ApiPromise<OrderPage> {
    return apiPromise(listOrders(this.transport, options));
  }

  /** Iterates over all orders, in descending order of their ids. Fetches pages as needed. */
  eachOrder(options: ListOrdersOptions = {}): AsyncGenerator<Order, void, undefined> {
    return eachOrder(this.transport, options);
  }
}
