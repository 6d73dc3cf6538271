import { signal } from "@preact/signals";
import { dayMs } from "../../domain/values/times.ts";
import { request } from "../client/api.ts";
import { onSignOut } from "../client/session.ts";
import type { SalesList } from "../client/types.ts";
import { formatCount } from "../texts/formats.ts";
import { dayOnly } from "../texts/times.ts";

// How long the stock lasts if it sells as fast as in the last days. Loaded when somebody asks for it.

/** What was sold, while the page shows how long the stock lasts. */
export const sales = signal<{ days: number; sold: Map<string, number> } | undefined>(undefined);

export async function loadSales(): Promise<void> {
  const { days, pets } = await request<SalesList>("/sales");
  sales.value = { days, sold: new Map(pets.map(({ petId, sold }) => [petId, sold])) };
}

onSignOut(() => (sales.value = undefined));

const daysShownMax = 3_650;

/** How many days a quantity of a pet lasts. Pets that were not sold come last. */
export function daysLeft(petId: string, quantity: number): number {
  const sold = sales.value?.sold.get(petId);
  return sold === undefined ? Number.MAX_VALUE : (quantity * sales.value!.days) / sold;
}

/** Until when the stock lasts, and how that was computed. Undefined if it was not sold. */
export function lastsUntil(petId: string, quantity: number, now = Date.now()) {
  const sold = sales.value?.sold.get(petId);
  if (sold === undefined) return undefined;
  const left = daysLeft(petId, quantity);
  const date = left > daysShownMax ? "Over 10 years" : dayOnly(now + left * dayMs);
  const pace = `${formatCount(sold)} in ${sales.value!.days} days`;
  return { text: quantity === 0 ? "Sold out" : date, pace };
}
