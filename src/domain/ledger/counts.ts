import { reasonCharactersMax } from "../values/texts.ts";
import { isInHistory, positionOf } from "./epochs.ts";
import type { Change } from "./ledger.ts";
import type { InventoryReader } from "./store.ts";

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

/**
 * Gives each count the epoch in which its row was written. A client knows the epoch of a cursor, which
 * may have begun after the row. Returns the index of a count whose row this store does not have, for
 * example after a restore.
 */
export async function locateCounts(
  inventory: Pick<InventoryReader, "readHead" | "listEpochs">,
  changes: readonly Change[],
): Promise<readonly Change[] | number> {
  if (changes.every(({ countedAt }) => countedAt?.epoch === undefined)) return changes;
  const { seq: last } = await inventory.readHead();
  const history = await inventory.listEpochs();
  const isLost = ({ countedAt }: Change) =>
    countedAt?.epoch !== undefined &&
    !isInHistory(history, last, { seq: countedAt.seq, epoch: countedAt.epoch });
  const lost = changes.findIndex(isLost);
  if (lost >= 0) return lost;
  return changes.map((change) => {
    const { countedAt } = change;
    if (countedAt?.epoch === undefined || countedAt.seq === 0) return change;
    return { ...change, countedAt: positionOf(history, countedAt.seq) };
  });
}
