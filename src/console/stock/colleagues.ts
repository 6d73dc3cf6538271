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
/** What this page has reported last. */
let reported = "";

async function exchange(): Promise<void> {
  const pets = [...counts.value.keys()].slice(-reportedMax);
  const text = `${counter.value} ${pets}`;
  const body = text === reported ? {} : { pets };
  const sentAt = Date.now();
  try {
    const path = "/stocktakes";
    const { now, others } = await request<StocktakeList>(path, { method: "POST", body });
    reported = text;
    clockDifferenceMs.value = Date.parse(now) - (sentAt + Date.now()) / 2;
    colleagues.value = others;
  } catch {
    // Without a connection, the last state stays.
  }
}

/** While somebody counts, tells the others how far, and learns how far they are. */
export function useColleagues(): void {
  useEffect(() => {
    void exchange();
    const timer = setInterval(() => void (document.hidden || exchange()), 3_000);
    return () => {
      clearInterval(timer);
      void exchange();
    };
  }, []);
}
