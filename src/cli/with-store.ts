import { type Config, readConfig } from "../config.ts";
import type { Store } from "../domain/ports.ts";
import { openStore, systemClock } from "../engines.ts";
import type { Input } from "./command.ts";

/** The input of a command that works on one store. */
export interface StoreInput<Values, Operands = readonly []> extends Input<Values, Operands> {
  readonly config: Config;
  readonly store: Store;
}

/** Opens the store, runs the command, and closes the store also if the command fails. */
export function withStore<Values, Operands>(
  work: (input: StoreInput<Values, Operands>) => Promise<number>,
): (input: Input<Values, Operands>) => Promise<number> {
  return async (input) => {
    const config = readConfig(input.settings);
    const store = await openStore(config, systemClock);
    try {
      return await work({ ...input, config, store });
    } finally {
      await store.close();
    }
  };
}
