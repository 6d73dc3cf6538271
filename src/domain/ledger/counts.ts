import { reasonCharactersMax } from "../values/texts.ts";
import type { Unit } from "./ledger.ts";

/** Rows that a commit reads for the counts of one unit, while others wait. */
export const countRowsMax = 20_000;

/** A device knows the clock of the engine from a request, which can be slow, so it errs by less than this. */
export const clockErrorMs = 10_000;

/** Whether the rows after a moment have to be read for a unit. */
export function hasCounts({ changes }: Unit): boolean {
  return changes.some(({ countedAt }) => countedAt !== undefined);
}

/** What changed between a count and its use: ", 2 fewer since". */
export function sinceCount(counted: number, quantity: number): string {
  const since = quantity - counted;
  return since === 0 ? "" : `, ${Math.abs(since)} ${since < 0 ? "fewer" : "more"} since`;
}

/** What the ledger says about a count, after the reason of the person: "Stocktake (counted 12, 2 fewer since)". */
export function countReason(reason: string | null, counted: number, quantity: number): string {
  const numbers = ` (counted ${counted}${sinceCount(counted, quantity)})`;
  const letters = [...(reason ?? "Stocktake")].slice(0, reasonCharactersMax - numbers.length);
  return letters.join("") + numbers;
}
