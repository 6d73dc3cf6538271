import { reasonCharactersMax } from "../values/texts.ts";

/** Rows that one commit reads for its counts, while others wait. */
export const countRowsMax = 20_000;

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
