import { signal } from "@preact/signals";
import { request } from "../client/api.ts";
import type { StocktakeList } from "../client/types.ts";

/** How far the clock of the ledger is ahead of this one. NaN as long as that is not known. */
export const clockDifferenceMs = signal(Number.NaN);

/** Asks where the ledger ends, and learns its clock. Shares `pets` with others, if they are given. */
export async function askLedgerEnd(body: object, signal?: AbortSignal): Promise<StocktakeList> {
  const sentAt = performance.now();
  const options = { method: "POST", body, ...(signal && { signal }) } as const;
  const list = await request<StocktakeList>("/stocktakes", options);
  const low = Date.parse(list.now) - Date.now();
  const high = low + performance.now() - sentAt;
  // The offset lies between these bounds. A slow exchange has wide bounds and moves it little.
  const { value: last } = clockDifferenceMs;
  const known = Number.isNaN(last) ? (low + high) / 2 : last;
  clockDifferenceMs.value = Math.min(Math.max(known, low), high);
  return list;
}
