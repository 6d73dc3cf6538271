import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { request } from "../client/api.ts";
import type { Stocktake, StocktakeList } from "../client/types.ts";
import { clockDifferenceMs, counter, counts } from "./counting.ts";

/** What others have counted and not applied yet. */
export const colleagues = signal<readonly Stocktake[]>([]);

/** Who else has counted a pet. */
export const countedBy = computed(() => {
  const names = new Map<string, string>();
  for (const { keyName, pets } of colleagues.value) {
    for (const petId of pets) names.set(String(petId), keyName);
  }
  return names;
});

/** The service keeps this many ids for each person. */
const reportedMax = 10_000;
/** What this page has reported last. Empty at first: another device of the person may be counting. */
let reported = "";

/** Tells the others what was counted here, and learns what they counted, and the clock of the service. */
export async function exchange(): Promise<void> {
  const pets = [...counts.value.keys()].slice(-reportedMax);
  const text = pets.length === 0 ? "" : `${counter.value} ${pets}`;
  const body = text === reported ? {} : { pets };
  const sentAt = Date.now();
  const { now, others } = await request<StocktakeList>("/stocktakes", { method: "POST", body });
  reported = text;
  const [low, high] = [Date.parse(now) - Date.now(), Date.parse(now) - sentAt];
  // It lies between these. A slow exchange, which says little, moves it no further than it must.
  const { value: last } = clockDifferenceMs;
  const known = Number.isNaN(last) ? (low + high) / 2 : last;
  clockDifferenceMs.value = Math.min(Math.max(known, low), high);
  colleagues.value = others;
}

// Without a connection, the last state stays.
const tryExchange = () => exchange().catch(() => undefined);

/** Repeats that while somebody counts. */
export function useColleagues(): void {
  useEffect(() => {
    void tryExchange();
    const timer = setInterval(() => void (document.hidden || tryExchange()), 3_000);
    return () => {
      clearInterval(timer);
      void tryExchange();
    };
  }, []);
}
