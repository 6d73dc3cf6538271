import { readBody, unexpected } from "./answer.js";
import { decodeInventory, decodeInventoryItem, decodeOrders, decodePet } from "./decode.js";
import { Gate } from "./gate.js";
import { createIdempotencyKey } from "./idempotency.js";
import type { Limits } from "./limits.js";
import { findNextLink } from "./link.js";
import { type CallOptions, type ClientOptions, settle } from "./options.js";
import { type Line, send } from "./request.js";
import type { InventoryItem, InventoryUpdate, Order, Pet } from "./types.js";

/** A 64-bit identifier. A number is taken too, as long as it is a safe integer. */
export type Id = bigint | number;

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
 * an ApiError, a NetworkError or a TimeoutError, or with the reason of its AbortSignal.
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
  async listInventory(options: CallOptions = {}): Promise<InventoryItem[]> {
    const kept = this.#list;
    const headers = kept === undefined ? {} : { "If-None-Match": kept.etag };
    const answer = await send(this.#line, { method: "GET", path: "/inventory", headers }, options);
    if (answer.status === 304) {
      if (kept !== undefined) return kept.items.slice();
      throw unexpected(answer, "Status 304 to a request without a condition");
    }
    const items = readBody(answer, decodeInventory);
    const etag = answer.headers.get("etag");
    this.#list = etag === null ? undefined : { etag, items };
    // A copy costs next to nothing; freezing a long array takes Bun longer than reading it.
    return items.slice();
  }

  /**
   * Sets the stock count of one pet. Experimental: the request may change before it is stable. The
   * attempts of one call share one Idempotency-Key; see the README for what that does not yet do.
   */
  async updateInventory(
    petId: Id,
    update: InventoryUpdate,
    options: CallOptions = {},
  ): Promise<InventoryItem> {
    const answer = await send(
      this.#line,
      {
        method: "PATCH",
        path: `/inventory/${formatId(petId)}`,
        headers: {
          "Content-Type": "application/json",
          "Idempotency-Key": createIdempotencyKey(),
        },
        body: JSON.stringify({ quantity: update.quantity }),
      },
      options,
    );
    return readBody(answer, decodeInventoryItem);
  }

  /**
   * The record of one pet.
   * @deprecated The service will answer 410 from the date in its `Sunset` header on.
   */
  async getPet(petId: Id, options: CallOptions = {}): Promise<Pet> {
    const path = `/pets/${formatId(petId)}`;
    return readBody(await send(this.#line, { method: "GET", path }, options), decodePet);
  }

  /** One page of the orders, the newest first. */
  async listOrders(options: ListOrdersOptions = {}): Promise<OrderPage> {
    const query = new URLSearchParams();
    if (options.limit !== undefined) query.set("limit", String(options.limit));
    if (options.after !== undefined) query.set("after", formatId(options.after));
    const path = `/store/orders?${query}`.replace(/\?$/, "");
    const answer = await send(this.#line, { method: "GET", path }, options);
    const orders = readBody(answer, decodeOrders);
    // Only the cursor is taken from the link: the key is never sent to an address that came in one.
    const next = findNextLink(answer.headers.get("link"), this.#line.settings.baseUrl);
    const after = next?.searchParams.get("after") ?? null;
    if (after !== null && !/^-?\d+$/.test(after)) {
      throw unexpected(answer, "The link to the next page holds no order id");
    }
    return { orders, nextAfter: after === null ? null : BigInt(after) };
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

const idMin = -(2n ** 63n);
const idMax = 2n ** 63n - 1n;

// A number past 2^53 has already lost digits: sending it would name another pet.
function formatId(id: Id): string {
  if (typeof id === "bigint" ? id >= idMin && id <= idMax : Number.isSafeInteger(id)) {
    return String(BigInt(id));
  }
  throw new RangeError(`Not a 64-bit id: ${id}. Use a bigint for one past 2^53`);
}
