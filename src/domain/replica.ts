import type { Position } from "./epochs.ts";
import type { Entry, Stock } from "./inventory.ts";
import type { MaybePromise } from "./ports.ts";

/** A copy of the inventory that is brought forward row by row and shown at chosen positions. */
export interface Replica {
  /** Starts over, empty. What was published last stays visible until the next publication. */
  clear(): void;
  /** Adds entries with larger ids than any before. */
  load(entries: readonly Entry[]): void;
  /** The pet's stock is now this; null: it is gone. */
  apply(petId: bigint, after: Stock | null): void;
  /** How many entries there are, roughly: changes that wait need not be counted. */
  readonly size: number;
  /** True when many changes wait to be written. Whoever applies more calls `write` first. */
  readonly isFull: boolean;
  /** Writes the changes that wait, in slices, and shows nothing of them yet. */
  write(): MaybePromise<void>;
  /**
   * Shows what was applied before this call as the state at `position`. Works in slices when there
   * is much to write. Changes applied meanwhile wait for the next publication.
   */
  publish(position: Position): MaybePromise<void>;
}
