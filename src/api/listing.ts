import type { Replica } from "../domain/follower.ts";
import type { Entry, Stock } from "../domain/inventory.ts";

/** The inventory as the bytes that answer `GET /inventory`, kept page by page. */
export interface Listing extends Replica {
  /** The whole list as JSON. The same value until something changes. */
  body(): Blob;
}

const pageEntries = 512;

interface Page {
  /** Entries in ascending order of id; `ids[count]` and beyond are room to grow. */
  readonly ids: bigint[];
  readonly stocks: Stock[];
  /** The page's entries as JSON, without brackets; undefined after a change. */
  bytes: Uint8Array<ArrayBuffer> | undefined;
}

export function createListing(): Listing {
  let pages: Page[] = [];
  let body: Blob | undefined;

  /** The first page whose last id is not smaller, or the last page. */
  function pageFor(petId: bigint): number {
    let low = 0;
    let high = pages.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (pages[middle]!.ids.at(-1)! < petId) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function put(petId: bigint, stock: Stock): void {
    if (pages.length === 0) pages.push({ ids: [], stocks: [], bytes: undefined });
    const number = pageFor(petId);
    const page = pages[number]!;
    const place = placeIn(page.ids, petId);
    page.bytes = undefined;
    if (page.ids[place] === petId) {
      page.stocks[place] = stock;
      return;
    }
    page.ids.splice(place, 0, petId);
    page.stocks.splice(place, 0, stock);
    if (page.ids.length > 2 * pageEntries) {
      const half = {
        ids: page.ids.splice(pageEntries),
        stocks: page.stocks.splice(pageEntries),
        bytes: undefined,
      };
      pages.splice(number + 1, 0, half);
    }
  }

  function remove(petId: bigint): void {
    const number = pageFor(petId);
    const page = pages[number];
    const place = page ? placeIn(page.ids, petId) : 0;
    if (!page || page.ids[place] !== petId) return;
    page.bytes = undefined;
    page.ids.splice(place, 1);
    page.stocks.splice(place, 1);
    if (page.ids.length === 0) pages.splice(number, 1);
  }

  return {
    clear() {
      pages = [];
      body = undefined;
    },
    load(entries: readonly Entry[]) {
      body = undefined;
      for (let from = 0; from < entries.length; from += pageEntries) {
        const slice = entries.slice(from, from + pageEntries);
        pages.push({
          ids: slice.map((entry) => entry.petId),
          stocks: slice,
          bytes: undefined,
        });
      }
    },
    apply(row) {
      body = undefined;
      if (row.after) put(row.petId, row.after);
      else remove(row.petId);
    },
    body() {
      body ??= new Blob(parts(pages));
      return body;
    },
  };
}

const encoder = new TextEncoder();

function parts(pages: readonly Page[]): BlobPart[] {
  const list: BlobPart[] = ["["];
  for (const page of pages) {
    page.bytes ??= encoder.encode(page.ids.map((id, at) => itemJson(id, page.stocks[at]!)).join());
    if (list.length > 1) list.push(",");
    list.push(page.bytes);
  }
  list.push("]");
  return list;
}

/** Digits are written as they are, never through a number: ids have 64 bits. */
export function itemJson(petId: bigint, stock: Stock): string {
  return `{"petId":${petId},"quantity":${stock.quantity},"status":"${stock.status}"}`;
}

function placeIn(ids: readonly bigint[], petId: bigint): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ids[middle]! < petId) low = middle + 1;
    else high = middle;
  }
  return low;
}
