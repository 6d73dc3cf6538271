import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Stocktake } from "../client/types.ts";
import { counter, counts } from "./counting.ts";
import { askLedgerEnd } from "./ledger-end.ts";

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

/** Tells the others what was counted here, and learns what they counted, and the clock of the ledger. */
export async function exchange(): Promise<void> {
  const pets = [...counts.value.keys()].slice(-reportedMax);
  const text = pets.length === 0 ? "" : `${counter.value} ${pets}`;
  const { others } = await askLedgerEnd(text === reported ? {} : { pets });
  reported = text;
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
