import type { CatalogueReader } from "../catalogue/store.ts";
import type { LedgerRow } from "../ledger/ledger.ts";
import type { MaybePromise } from "../running/clock.ts";
import type { WebhookFilter } from "./webhook.ts";

type FilteredRow = Pick<LedgerRow, "petId" | "before" | "after" | "cause">;

/** What says at which quantity a pet is low. */
export interface ThresholdParts {
  readonly store: { readonly catalogue: Pick<CatalogueReader, "namesOf"> };
  /** The threshold of pets that have none of their own. */
  readonly lowStockAt: number | undefined;
}

/** Takes rows, and returns a function that checks whether a webhook receives the change of one of them. */
export type Matcher = (rows: readonly FilteredRow[]) => MaybePromise<Matches>;
type Matches = (row: FilteredRow) => boolean;

/** Reads the thresholds of pets in the rows that could be wanted, if the filter is about low stock. */
export function matcherOf(filter: WebhookFilter, parts: ThresholdParts): Matcher {
  const { store, lowStockAt = -1 } = parts;
  const matches = matchesOf(filter);
  if (!filter.becomesLow) return () => matches;
  return async (rows) => {
    const petIds = new Set(rows.filter(matches).map(({ petId }) => petId));
    const names = await store.catalogue.namesOf([...petIds]);
    const own = new Map(names.map(({ petId, lowStockAt }) => [petId, lowStockAt]));
    // Once per crossing: the quantity was above the threshold before.
    return (row) => matches(row) && fellBelow(row, (own.get(row.petId) ?? lowStockAt) + 1);
  };
}

function matchesOf(filter: WebhookFilter): Matches {
  const pets = filter.pets && new Set(filter.pets);
  return (row) =>
    (!pets || pets.has(row.petId)) &&
    (!filter.causes || filter.causes.includes(row.cause)) &&
    (!filter.statuses || hasStatus(row, filter.statuses)) &&
    (filter.below === null || fellBelow(row, filter.below));
}

function hasStatus({ before, after }: FilteredRow, statuses: readonly string[]): boolean {
  const stock = after ?? before;
  return stock !== null && statuses.includes(stock.status);
}

/** A pet that is created or removed has no quantity to compare. */
function fellBelow({ before, after }: FilteredRow, below: number): boolean {
  return before !== null && after !== null && before.quantity >= below && after.quantity < below;
}
