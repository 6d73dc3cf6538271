import type { LedgerRow } from "../ledger/ledger.ts";
import type { ThresholdTable } from "../sales/thresholds.ts";
import type { WebhookFilter } from "./webhook.ts";

type FilteredRow = Pick<LedgerRow, "petId" | "before" | "after" | "cause">;

/** Returns a function that checks whether a webhook with this filter receives a change. */
export function matcherOf(
  filter: WebhookFilter,
): (row: FilteredRow, thresholds: ThresholdTable) => boolean {
  const pets = filter.pets && new Set(filter.pets);
  return (row, thresholds) =>
    (!pets || pets.has(row.petId)) &&
    (!filter.causes || filter.causes.includes(row.cause)) &&
    (!filter.statuses || hasStatus(row, filter.statuses)) &&
    (filter.below === null || fellBelow(row, filter.below)) &&
    (!filter.becomesLow || becameLow(row, thresholds));
}

function hasStatus({ before, after }: FilteredRow, statuses: readonly string[]): boolean {
  const stock = after ?? before;
  return stock !== null && statuses.includes(stock.status);
}

/** A pet that is created or removed has no quantity to compare. */
function fellBelow({ before, after }: FilteredRow, below: number): boolean {
  return before !== null && after !== null && before.quantity >= below && after.quantity < below;
}

/** Once per crossing: the quantity was above the threshold before. */
function becameLow(row: FilteredRow, thresholds: ThresholdTable): boolean {
  return fellBelow(row, thresholds.of(row.petId) + 1);
}
