import type { Environment } from "../../../domain/keys/keys.ts";
import type { Migration } from "../../../domain/operations/upgrades.ts";
import type { Clock } from "../../../domain/running/clock.ts";
import type { Log } from "../../../domain/running/events.ts";

export interface SqliteOptions {
  readonly path: string;
  readonly environment: Environment;
  readonly clock: Clock;
  /**
   * Whether writes run on a thread, so that reads continue during a disk flush. True for the
   * service. A command does one thing and ends, so it does not need a thread.
   */
  readonly threaded: boolean;
  /** Gets a line about damaged files if the store has a thread. Otherwise damage throws. */
  readonly log?: Log | undefined;
  /** Whether a missing store is created. True unless given. */
  readonly mayCreate?: boolean;
  readonly onCreated?: (() => void) | undefined;
  /** Called after the schema was migrated. */
  readonly onMigrated?: ((migration: Migration) => void) | undefined;
}
