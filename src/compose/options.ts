import type { Config } from "../config.ts";
import type { Clock } from "../domain/running/clock.ts";
import type { Log } from "../domain/running/events.ts";
import type { Observer } from "../http/pipeline/observe.ts";
import type { RequestLines } from "../http/pipeline/request-log.ts";
import type { Surface } from "../http/pipeline/surface.ts";

export interface ServiceOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Where the lines of the request log go. Without it there is none. */
  readonly requestLines?: RequestLines | undefined;
  /** How many lines of the log could not be written. */
  readonly droppedLines?: () => number;
  /** Replaces the clock of a PostgreSQL server. By default the server's time counts. */
  readonly databaseClock?: Clock;
  /** The command line of this program, up to the name of a command. Without it there are no backups. */
  readonly program?: readonly string[];
  /** The last row of a SQLite store that lacks acknowledged rows, if it is served nevertheless. */
  readonly acceptOlder?: number | undefined;
  /** Called after every request to a surface. */
  readonly observer?: Observer;
  /** Served in addition to the API. */
  readonly surfaces?: readonly Surface[];
}
