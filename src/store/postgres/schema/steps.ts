import { initial } from "./1-initial.ts";
import { boundedRows } from "./2-bounded-rows.ts";
import { epochs } from "./3-epochs.ts";
import { checkpoints } from "./6-checkpoints.ts";

/** One step of the schema. */
export interface Step {
  readonly text: string;
  /**
   * The oldest version of the schema whose code still works after this step. While instances are
   * replaced one by one, two releases use the database at once. A step therefore only adds, and a
   * later release removes what is no longer used.
   */
  readonly fits: number;
}

/** Numbered from 1, applied in order and never edited once released. */
export const steps: readonly Step[] = [
  { text: initial, fits: 1 },
  // 0.1.0 reads the head and counts requests in rows that this step removes.
  { text: boundedRows, fits: 2 },
  { text: epochs, fits: 2 },
  { text: checkpoints, fits: 2 },
];
