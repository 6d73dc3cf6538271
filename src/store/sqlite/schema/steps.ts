import { initial } from "./1-initial.ts";
import { epochs } from "./2-epochs.ts";
import { checkpoints } from "./5-checkpoints.ts";

/**
 * The steps of the schema, in order. A released step never changes. `PRAGMA user_version` is the
 * number of steps that were applied.
 */
export const steps: readonly string[] = [initial, epochs, checkpoints];
