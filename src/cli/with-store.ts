import { type Config, readConfig } from "../config.ts";
import type { Store } from "../domain/ports.ts";
import { openExistingStore, openStore, systemClock } from "../engines.ts";
import type { Input } from "./command.ts";
import { beginChange } from "./interruption.ts";

/** The input of a command that works on one store. */
export interface StoreInput<Values, Operands = readonly []> extends Input<Values, Operands> {
  readonly config: Config;
  readonly store: Store;
}

type Work<Values, Operands> = (input: StoreInput<Values, Operands>) => Promise<number>;
type Run<Values, Operands> = (input: Input<Values, Operands>) => Promise<number>;

interface WorkOptions {
  /** The work calls `beginChange` itself, before its first change. */
  readonly isInterruptible?: boolean;
}

/** Opens or creates the store, runs the command, and closes the store also if the command fails. */
export function withStore<Values, Operands>(
  work: Work<Values, Operands>,
  options?: WorkOptions,
): Run<Values, Operands> {
  return runWith(openStore, work, options);
}

/** Same as `withStore`, for a command that cannot do anything in a store that was just created. */
export function withExistingStore<Values, Operands>(
  work: Work<Values, Operands>,
): Run<Values, Operands> {
  return runWith(openExistingStore, work);
}

function runWith<Values, Operands>(
  open: typeof openStore,
  work: Work<Values, Operands>,
  { isInterruptible = false }: WorkOptions = {},
): Run<Values, Operands> {
  return async (input) => {
    const config = readConfig(input.settings);
    const store = await open(config, systemClock);
    if (!isInterruptible) beginChange();
    try {
      return await work({ ...input, config, store });
    } finally {
      await store.close();
    }
  };
}
