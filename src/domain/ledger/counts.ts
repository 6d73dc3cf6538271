import { reasonCharactersMax } from "../values/texts.ts";

/** Rows of one pet that a count can reach back over. A commit reads them while others wait. */
export const countRowsMax = 10_000;

/** What the ledger says about a count, after the reason of the person: "Stocktake (counted 12, 2 fewer since)". */
export function countReason(reason: string | null, counted: number, quantity: number): string {
  const since = quantity - counted;
  const change = since === 0 ? "" : `, ${Math.abs(since)} ${since < 0 ? "fewer" : "more"} since`;
  const numbers = ` (counted ${counted}${change})`;
  const letters = [...(reason ?? "Stocktake")];
  const lettersMax = reasonCharactersMax - numbers.length;
  if (letters.length > lettersMax) letters.splice(lettersMax - 1, letters.length, "…");
  return letters.join("") + numbers;
}
