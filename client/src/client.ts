import { readBody, unexpectedResponse } from "./body.js";
import type { Line } from "./call.js";
import { decodeInventory, decodeInventoryItem, decodeOrders, decodePet } from "./decode.js";
import { DeprecationWarnings } from "./deprecation.js";
import { Gate } from "./gate.js";
import { formatId, type Id } from "./id.js";
import { idempotencyField } from "./idempotency.js";
import type { Limits } from "./limits.js";
import { findNextLink } from "./link.js";
import type { CallOptions, ClientOptions, UpdateOptions } from "./options.js";
import { type ApiPromise, apiPromise, type WithResponse } from "./promise.js";
import { send } from "./request.js";
import { withToJson } from "./serialize.js";
import { settle } from "./settings.js";
import type { InventoryItem, InventoryUpdate, Order, Pet } from "./types.js";

export interface ListOrdersOptions extends CallOptions {
  /** Orders in a page: 100 unless given, 1,000 at most. */
  readonly limit?: number | undefined;
  /** The last id seen: the page begins after it. */
  readonly after?: Id | undefined;
}

export interface OrderPage {
  /** By descending id. */
  readonly orders: readonly Order[];
  /** What to pass as `after` for the next page; null on the last one. */
  readonly nextAfter: bigint | null;
}

/**
 * The Pet Store Inventory Service, seen from one API key. Make one client for a key and share it:
 * its calls, in parallel or not, together stay within the key's limit. Every method rejects with
 * an ApiError, a NetworkError or a TimeoutError, with the reason of its AbortSignal, or with what
 * your own hooks and `apiKey` function throw. `withResponse()` on what a method returns gives the
 * response beside the value.
 */
export class PetstoreClient {
  readonly #line: Line;
  #limits: Limits | undefined;
  #list: { readonly etag: string; readonly items: readonly InventoryItem[] } | undefined;

  constructor(options: ClientOptions) {
    const settings = settle(options);
    this.#line = {
      settings,
      gate: new Gate(settings.clock, settings.parallelMax),
      deprecations: new DeprecationWarnings(settings.hooks),
      onLesson: ({ limit, remaining, resetsAt }) => {
        this.#limits = { limit, remaining, resetsAt };
      },
    };
  }

  /** The limit as the last answer told it; undefined before the first. */
  get limits(): Limits | undefined {
    return this.#limits;
  }

  /**
   * The stock entries of all pets, by ascending `petId`. While nothing changed in the store they are
   * not sent again: the array is a new one each time, and yours; its items, frozen, are the same.
   */
  listInventory(options: CallOptions = {}): ApiPromise<InventoryItem[]> {
    return apiPromise(this.#listInventory(options));
  }

  async #listInventory(options: CallOptions): Promise<WithResponse<InventoryItem[]>> {
    const kept = this.#list;
    const headers = kept === undefined ? {} : { "If-None-Match": kept.etag };
    const call = {
      operation: "listInventory",
      method: "GET",
      path: "/inventory",
      headers,
    } as const;
    const response = await send(this.#line, call, options);
    if (response.status === 304) {
      if (kept !== undefined) return { value: kept.items.slice(), response };
      throw unexpectedResponse(response, "Status 304 to a request without a condition");
    }
    const items = readBody(response, decodeInventory);
    const etag = response.headers.get("etag");
    this.#list = etag === null ? undefined : { etag, items };
    // A copy costs next to nothing; freezing a long array takes Bun longer than reading it.
    return { value: items.slice(), response };
  }

  /**
   * Sets the stock count of one pet. Experimental: the request may change before it is stable. The
   * attempts of one call share one Idempotency-Key; see the README for what that does not yet do.
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
    const response = await send(
      this.#line,
      {
        operation: "updateInventory",
        method: "PATCH",
        path: `/inventory/${formatId("petId", petId)}`,
        headers: {
          "Content-Type": "application/json",
          "Idempotency-Key": idempotencyField(options.idempotencyKey),
        },
        body: JSON.stringify({ quantity: update.quantity }),
      },
      options,
    );
    return { value: readBody(response, decodeInventoryItem), response };
  }

  /**
   * The record of one pet.
   * @deprecated The service will answer 410 from the date in its `Sunset` header on.
   */
  getPet(petId: Id, options: CallOptions = {}): ApiPromise<Pet> {
    return apiPromise(this.#getPet(petId, options));
  }

  async #getPet(petId: Id, options: CallOptions): Promise<WithResponse<Pet>> {
    const path = `/pets/${formatId("petId", petId)}`;
    const response = await send(this.#line, { operation: "getPet", method: "GET", path }, options);
    return { value: readBody(response, decodePet), response };
  }

  /** One page of the orders, the newest first. */
  listOrders(options: ListOrdersOptions = {}): ApiPromise<OrderPage> {
    return apiPromise(this.#listOrders(options));
  }

  async #listOrders(options: ListOrdersOptions): Promise<WithResponse<OrderPage>> {
    const query = new URLSearchParams();
    if (options.limit !== undefined) query.set("limit", String(options.limit));
    if (options.after !== undefined) query.set("after", formatId("after", options.after));
    const path = `/store/orders?${query}`.replace(/\?$/, "");
    const call = { operation: "listOrders", method: "GET", path } as const;
    const response = await send(this.#line, call, options);
    const orders = readBody(response, decodeOrders);
    // Only the cursor is taken from the link: the key is never sent to an address that came in one.
    const next = findNextLink(response.headers.get("link"), this.#line.settings.baseUrl);
    const after = next?.searchParams.get("after") ?? null;
    if (after !== null && !/^-?\d+$/.test(after)) {
      throw unexpectedResponse(response, "The link to the next page holds no order id");
    }
    const nextAfter = after === null ? null : BigInt(after);
    return { value: withToJson({ orders, nextAfter }), response };
  }

  /** All orders, the newest first, fetched page by page as they are consumed. */
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
