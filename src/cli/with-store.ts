import { type Config, readConfig } from "../config.ts";
import type { Store } from "../domain/store.ts";
import { systemClock } from "../engines.ts";
import { printNote } from "../output.ts";
import { openExistingStore, openOrCreateStore, withStorePath } from "../stores.ts";
import type { Input } from "./command.ts";
import { beginChange, noteCreation } from "./interruption.ts";

/** The input of a command that works on one store. */
export interface StoreInput<Values, Operands = readonly []> extends Input<Values, Operands> {
  readonly config: Config;
  readonly store: Store;
}

type Work<Values, Operands> = (input: StoreInput<Values, Operands>) => Promise<number>;
type Run<Values, Operands> = (input: Input<Values, Operands>) => Promise<number>;

/**
 * Opens or creates the store, runs the command, and closes the store also if the command fails. Says
 * on standard error which store it created. For commands that bring content.
 */
export function withStore<Values, Operands>(work: Work<Values, Operands>): Run<Values, Operands> {
  return runWith((config) => openOrCreateStore(config, systemClock, printCreated), work);
}

/** Same as `withStore`, but rejects if there is no store. For commands that need content. */
export function withExistingStore<Values, Operands>(
  work: Work<Values, Operands>,
): Run<Values, Operands> {
  return runWith((config) => openExistingStore(config, systemClock), work);
}

export function printCreated(place: string): void {
  noteCreation();
  printNote(`created the store ${place}`);
}

function runWith<Values, Operands>(
  open: (config: Config) => Promise<Store>,
  work: Work<Values, Operands>,
): Run<Values, Operands> {
  return async (input) => {
    const config = readConfig(input.settings);
    const store = await open(config);
    beginChange();
    try {
      return await work({ ...input, config, store });
    } catch (error) {
      throw withStorePath(config, error);
    } finally {
      await store.close();
    }
  };
}
