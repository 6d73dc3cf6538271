import { readBody, unexpectedResponse } from "./body.js";
import type { Transport } from "./call.js";
import { decodeInventory } from "./decode.js";
import type { CallOptions } from "./options.js";
import type { WithResponse } from "./promise.js";
import { sendWithRetries } from "./retry.js";
import type { InventoryItem } from "./types.js";

/** Reads the list of all entries and caches it, so that it is downloaded only if it changed. */
export class InventoryList {
  #cached: { readonly etag: string; readonly items: readonly InventoryItem[] } | undefined;

  async read(transport: Transport, options: CallOptions): Promise<WithResponse<InventoryItem[]>> {
    const cached = this.#cached;
    const headers = cached === undefined ? {} : { "If-None-Match": cached.etag };
    const call = {
      operation: "listInventory",
      method: "GET",
      path: "/inventory",
      headers,
    } as const;
    const response = await sendWithRetries(transport, call, options);
    if (response.status === 304) {
      if (cached !== undefined) return { value: cached.items.slice(), response };
      throw unexpectedResponse(response, "Status 304 for a request without If-None-Match");
    }
    const items = readBody(response, decodeInventory);
    const etag = response.headers.get("etag");
    this.#cached = etag === null ? undefined : { etag, items };
    // A copy is cheap. Freezing a long array takes longer in Bun than parsing it.
    return { value: items.slice(), response };
  }
}
