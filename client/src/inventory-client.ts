import type { Transport } from "./call.js";
import { DeprecationWarnings } from "./deprecation.js";
import type { InventoryEntry } from "./entry.js";
import type { Id } from "./id.js";
import { getInventory, updateInventory } from "./inventory.js";
import { InventoryList } from "./inventory-list.js";
import type { Limits } from "./limits.js";
import type { CallOptions, ClientOptions, UpdateOptions } from "./options.js";
import { type ApiPromise, apiPromise } from "./promise.js";
import { RequestQueue } from "./queue.js";
import { resolveSettings } from "./settings.js";
import type { InventoryItem, InventoryUpdate } from "./types.js";

/**
 * A client for stock entries alone: a page or a small program that lists and updates them downloads a
 * third less than with PetstoreClient, which has these methods too. Create one client per API key and
 * share it, so that all calls together stay within the rate limit of the key.
 *
 * Every method rejects with an ApiError, a NetworkError or a TimeoutError, with the reason of its
 * AbortSignal, or with an error that your hooks or your `apiKey` function throw. Call
 * `withResponse()` on a returned promise to get the HTTP response together with the value.
 */
export class InventoryClient {
  readonly #transport: Transport;
  readonly #list = new InventoryList();
  #limits: Limits | undefined;

  constructor(options: ClientOptions) {
    const settings = resolveSettings(options);
    this.#transport = {
      settings,
      queue: new RequestQueue(settings.clock, settings.parallelMax),
      deprecations: new DeprecationWarnings(settings.hooks),
      onLimits: ({ limit, remaining, resetsAt }) => {
        this.#limits = { limit, remaining, resetsAt };
      },
    };
  }

  /** Not an own property, so that a logged client does not show the key. */
  protected get transport(): Transport {
    return this.#transport;
  }

  /** The rate limit as of the last response, or undefined before the first. */
  get limits(): Limits | undefined {
    return this.#limits;
  }

  /**
   * Returns the stock entries of all pets, in ascending order of `petId`. The list is downloaded only
   * if it changed. You may change the array, which is new each time. Its items are frozen, because
   * they are returned again while the list is unchanged.
   */
  listInventory(options: CallOptions = {}): ApiPromise<InventoryItem[]> {
    return apiPromise(this.#list.read(this.#transport, options));
  }

  /** Returns the stock entry of one pet with its `etag`. Beta. */
  getInventory(petId: Id, options: CallOptions = {}): ApiPromise<InventoryEntry> {
    return apiPromise(getInventory(this.#transport, petId, options));
  }

  /**
   * Sets the stock count of one pet. Experimental: the request may change.
   *
   * With `ifMatch`, the count is set only if the entry still has that version. Otherwise the call
   * rejects with a ConflictError, which has the current entry.
   */
  updateInventory(
    petId: Id,
    update: InventoryUpdate,
    options: UpdateOptions = {},
  ): ApiPromise<InventoryEntry> {
    return apiPromise(updateInventory(this.#transport, petId, update, options));
  }
}
