import { signal } from "@preact/signals";
import { messageOf, request } from "../client/api.ts";
import { onSignOut } from "../client/session.ts";
import type { SalesList } from "../client/types.ts";
import { showError } from "../page/messages.ts";
import { countOf, formatCount, formatDecimal } from "../texts/formats.ts";
import { dayOnly } from "../texts/times.ts";

// How long the stock lasts if it sells as fast as in the last days. Loaded when somebody asks for it.

/** What was sold, while the page shows how long the stock lasts. */
export const sales = signal<{ days: number; sold: Map<string, number> } | undefined>(undefined);

export async function loadSales(): Promise<boolean> {
  try {
    const { days, pets } = await request<SalesList>("/sales");
    sales.value = { days, sold: new Map(pets.map(({ petId, sold }) => [petId, sold])) };
    return true;
  } catch (error) {
    showError(messageOf(error));
    return false;
  }
}

onSignOut(() => {
  sales.value = undefined;
});

const dayMs = 86_400_000;
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
  const { days } = sales.value!;
  const left = daysLeft(petId, quantity);
  const date = left > daysShownMax ? "Over 10 years" : dayOnly(now + left * dayMs);
  const pace = `${formatDecimal(sold / days)} a day`;
  const how = `Sold ${formatCount(sold)} in the last ${countOf(days, "day")}, ${pace}`;
  return { text: quantity === 0 ? "Sold out" : date, pace, how };
}
