import { type Config, readConfig } from "../config.ts";
import type { Store } from "../domain/store.ts";
import { systemClock } from "../opening/engines.ts";
import { openExistingStore, openOrCreateStore, withStorePath } from "../opening/stores.ts";
import { printNote } from "../output.ts";
import {
  command,
  creatingSettings,
  type Definition,
  type Flags,
  type Operand,
  storeSettings,
  type UnlistedCommand,
} from "./command.ts";
import { beginChange, noteCreation } from "./interruption.ts";

/** What a command that works on one store gets. */
export interface OpenStore {
  readonly config: Config;
  readonly store: Store;
}

/**
 * Makes a command that works on one store. The store is closed also if the command fails. A missing
 * store is an error, unless the command `creates` it: one that brings content. It then says on standard
 * error which store it created.
 */
export function storeCommand<
  const F extends Flags,
  const O extends readonly Operand[] = readonly [],
>({
  creates,
  run,
  ...definition
}: Definition<F, O, OpenStore> & { readonly creates?: true }): UnlistedCommand {
  return command<F, O>({
    settings: creates ? creatingSettings : storeSettings,
    ...definition,
    async run(input) {
      const config = readConfig(input.settings);
      const isDryRun = (input.flags as { readonly "dry-run"?: boolean })["dry-run"];
      const use = definition.changes && !isDryRun ? "writes" : "reads";
      const store = creates
        ? await openOrCreateStore(config, systemClock, printCreated)
        : await openExistingStore(config, systemClock, use);
      beginChange();
      try {
        return await run({ ...input, config, store });
      } catch (error) {
        throw withStorePath(config, error);
      } finally {
        await store.close();
      }
    },
  });
}

export function printCreated(place: string): void {
  noteCreation();
  printNote(`created the store ${place}`);
}
