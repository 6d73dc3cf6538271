import type { Position } from "../ledger/epochs.ts";
import type { Entry, Stock } from "../ledger/inventory.ts";
import type { MaybePromise } from "../running/clock.ts";

/** A copy of the inventory that is updated row by row and published at certain positions. */
export interface Replica {
  /** Removes all entries. The last publication stays visible until the next one. */
  clear(): void;
  /** Adds entries. Their ids are larger than all that were loaded before. */
  load(entries: readonly Entry[]): void;
  /** Sets a pet's stock; null removes the entry. */
  apply(petId: bigint, after: Stock | null): void;
  /** The approximate number of entries. Pending changes need not be counted. */
  readonly size: number;
  /** True when many changes are pending. Call `write` before applying more. */
  readonly isFull: boolean;
  /** Writes pending changes, in slices, without publishing them. */
  write(): MaybePromise<void>;
  /**
   * Publishes everything applied before this call as the state at `position`. Works in slices when
   * there is much to write. Changes applied in the meantime are part of the next publication.
   */
  publish(position: Position): MaybePromise<void>;
}
