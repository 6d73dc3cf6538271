import { readBody, unexpectedResponse } from "./body.js";
import type { Transport } from "./call.js";
import { decodeInventory, decodeInventoryItem, decodeOrders, decodePet } from "./decode.js";
import { DeprecationWarnings } from "./deprecation.js";
import { formatId, type Id } from "./id.js";
import { idempotencyKeyHeader } from "./idempotency.js";
import { withToJson } from "./json.js";
import type { Limits } from "./limits.js";
import { findNextLink } from "./link.js";
import type { CallOptions, ClientOptions, UpdateOptions } from "./options.js";
import { type ApiPromise, apiPromise, type WithResponse } from "./promise.js";
import { RequestQueue } from "./queue.js";
import { sendWithRetries } from "./retry.js";
import { resolveSettings } from "./settings.js";
import type { InventoryItem, InventoryUpdate, Order, Pet } from "./types.js";

export interface ListOrdersOptions extends CallOptions {
  /** Orders per page, at most 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The page begins after this id. Pass the `nextAfter` of the previous page. */
  readonly after?: Id | undefined;
}

export interface OrderPage {
  /** In descending order of their ids. */
  readonly orders: readonly Order[];
  /** The `after` for the next page, or null on the last page. */
  readonly nextAfter: bigint | null;
}

/**
 * A client for the Pet Store Inventory Service. Create one per API key and share it, so that all
 * calls together stay within the rate limit of the key.
 *
 * Every method rejects with an ApiError, a NetworkError or a TimeoutError, with the reason of its
 * AbortSignal, or with an error that your hooks or your `apiKey` function throw. Call
 * `withResponse()` on a returned promise to get the HTTP response together with the value.
 */
export class PetstoreClient {
  readonly #transport: Transport;
  #limits: Limits | undefined;
  #cachedList: { readonly etag: string; readonly items: readonly InventoryItem[] } | undefined;

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
    return apiPromise(this.#listInventory(options));
  }

  async #listInventory(options: CallOptions): Promise<WithResponse<InventoryItem[]>> {
    const cached = this.#cachedList;
    const headers = cached === undefined ? {} : { "If-None-Match": cached.etag };
    const call = {
      operation: "listInventory",
      method: "GET",
      path: "/inventory",
      headers,
    } as const;
    const response = await sendWithRetries(this.#transport, call, options);
    if (response.status === 304) {
      if (cached !== undefined) return { value: cached.items.slice(), response };
      throw unexpectedResponse(response, "Status 304 for a request without If-None-Match");
    }
    const items = readBody(response, decodeInventory);
    const etag = response.headers.get("etag");
    this.#cachedList = etag === null ? undefined : { etag, items };
    // A copy is cheap. Freezing a long array takes longer in Bun than parsing it.
    return { value: items.slice(), response };
  }

  /**
   * Sets the stock count of one pet. Experimental: the request may change.
   *
   * All attempts of one call have the same `Idempotency-Key`, but the service does not support that
   * header yet. See "Retries of updates" in the README.
   */
  updateInventory(
    petId: Id,
    update: InventoryUpdate,
    options: UpdateOptions = {},
  ): ApiPromise<InventoryItem> {
    return apiPromise(this.#updateInventory(petId, update, options));
  }

  async #updateInventory(
    petId: Id,
    update: InventoryUpdate,
    options: UpdateOptions,
  ): Promise<WithResponse<InventoryItem>> {
    if (typeof update?.quantity !== "number") {
      throw new TypeError("Pass the new count as a number: { quantity: 5 }");
    }
    const response = await sendWithRetries(
      this.#transport,
      {
        operation: "updateInventory",
        method: "PATCH",
        path: `/inventory/${formatId("petId", petId)}`,
        headers: {
          "Content-Type": "application/json",
          "Idempotency-Key": idempotencyKeyHeader(options.idempotencyKey),
        },
        body: JSON.stringify({ quantity: update.quantity }),
      },
      options,
    );
    return { value: readBody(response, decodeInventoryItem), response };
  }

  /**
   * Returns the record of one pet.
   * @deprecated The service returns 410 after the date in its `Sunset` header.
   */
  getPet(petId: Id, options: CallOptions = {}): ApiPromise<Pet> {
    return apiPromise(this.#getPet(petId, options));
  }

  async #getPet(petId: Id, options: CallOptions): Promise<WithResponse<Pet>> {
    const path = `/pets/${formatId("petId", petId)}`;
    const response = await sendWithRetries(
      this.#transport,
      { operation: "getPet", method: "GET", path },
      options,
    );
    return { value: readBody(response, decodePet), response };
  }

  /** Returns one page of orders, in descending order of their ids. */
  listOrders(options: ListOrdersOptions = {}): ApiPromise<OrderPage> {
    return apiPromise(this.#listOrders(options));
  }

  async #listOrders(options: ListOrdersOptions): Promise<WithResponse<OrderPage>> {
    const query = new URLSearchParams();
    if (options.limit !== undefined) query.set("limit", String(options.limit));
    if (options.after !== undefined) query.set("after", formatId("after", options.after));
    const path = `/store/orders?${query}`.replace(/\?$/, "");
    const call = { operation: "listOrders", method: "GET", path } as const;
    const response = await sendWithRetries(this.#transport, call, options);
    const orders = readBody(response, decodeOrders);
    // Only the cursor is taken from the link, so the key is never sent to another host.
    const next = findNextLink(response.headers.get("link"), this.#transport.settings.baseUrl);
    const after = next?.searchParams.get("after") ?? null;
    if (after !== null && !/^-?\d+$/.test(after)) {
      throw unexpectedResponse(response, "The link to the next page does not contain an order id");
    }
    const nextAfter = after === null ? null : BigInt(after);
    return { value: withToJson({ orders, nextAfter }), response };
  }

  /** Iterates over all orders, in descending order of their ids. Fetches pages as needed. */
  async *eachOrder(options: ListOrdersOptions = {}): AsyncGenerator<Order, void, undefined> {
    let after = options.after;
    for (;;) {
      const page = await this.listOrders({ ...options, after });
      yield* page.orders;
      if (page.nextAfter === null) return;
      after = page.nextAfter;
    }
  }
}
