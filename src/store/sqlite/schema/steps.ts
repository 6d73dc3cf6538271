import type { Database } from "bun:sqlite";
import { initial } from "./1-initial.ts";
import { epochs } from "./2-epochs.ts";
import { chain } from "./3-chain.ts";
import { rememberedKeys } from "./4-remembered-keys.ts";
import { checkpoints } from "./5-checkpoints.ts";
import { webhooks } from "./6-webhooks.ts";
import { maintenance } from "./7-maintenance.ts";

/** SQL, or a function for what SQL cannot do. It runs inside the transaction of the migration. */
export type Step = string | ((database: Database) => void);

/**
 * The steps of the schema, in order. A released step never changes. `PRAGMA user_version` is the
 * number of steps that were applied.
 */
export const steps: readonly Step[] = [
  initial,
  epochs,
  chain,
  rememberedKeys,
  checkpoints,
  webhooks,
  maintenance,
];
