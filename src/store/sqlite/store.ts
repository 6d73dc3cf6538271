import type { Environment } from "../../domain/keys/keys.ts";
import type { Clock } from "../../domain/running/clock.ts";
import type { Log } from "../../domain/running/events.ts";
import type { Store } from "../../domain/store.ts";
import { assertFits, assertOurs } from "./creation.ts";
import { assertUndamaged } from "./engine/change-signal.ts";
import { guarded, openForReading, unavailableOr, type WrittenFile } from "./engine/connection.ts";
import { assertStore } from "./engine/existence.ts";
import { filesOf, hasContent, prepareFiles } from "./engine/files.ts";
import { assertNoLostRows, type LostRows } from "./engine/mark.ts";
import { recoverFile } from "./engine/recovery.ts";
import { isServedElsewhere } from "./engine/serving-lock.ts";
import { type ApplyStaged, applierOf, createPorts, type ServiceStaging } from "./ports.ts";
import { openCommandAccess, openReadingAccess, openServiceAccess } from "./writing/access.ts";
import { busyWaitMs, openInlineWriter, startEpoch } from "./writing/writer.ts";
import { startWriterThread } from "./writing/writer-thread.ts";

export interface SqliteOptions extends WrittenFile {
  readonly clock: Clock;
  /**
   * Whether writes run on a thread, so that reads continue during a disk flush. True for the
   * service. A command does one thing and ends, so it does not need a thread.
   */
  readonly threaded: boolean;
  /** Whether the store is only read. Nothing in it is then changed. */
  readonly isReadOnly?: boolean | undefined;
  /** Gets a line about damaged files if the store has a thread. Otherwise damage throws. */
  readonly log?: Log | undefined;
  /** Whether a missing store is created. True unless given. */
  readonly mayCreate?: boolean;
  readonly onCreated?: (() => void) | undefined;
  /** The last row of a store that lacks acknowledged rows, if it is opened nevertheless. */
  readonly acceptOlder?: number | undefined;
  /** Called with the rows that the store lacks, or if it has no mark that shows them. */
  readonly onUncertain?: ((lost: LostRows | "unmarked") => void) | undefined;
  /** Called if a command has written and the serving process does not respond. */
  readonly onUnseen?: (() => void) | undefined;
  /** For a process of the service that only reads: where it stages imports, which the service applies. */
  readonly staging?: ServiceStaging | undefined;
}

export type SqliteStore = Store & { readonly applyStaged: ApplyStaged };

export async function openSqlite(options: SqliteOptions): Promise<SqliteStore> {
  const { path, environment, clock, threaded, log = () => {}, mayCreate = true } = options;
  const { onUnseen = () => {}, isCopied = false, isReadOnly = false } = options;
  const file = { path, environment, isCopied };
  // Checked first: opening a store whose service has lost track of its files adds more damage.
  if (!threaded) assertUndamaged(filesOf(path));
  recoverFile(path);
  if (!mayCreate) assertStore(path);
  const isNew = !hasContent(path);
  if (!isNew) assertReadable(path, environment);
  if (!isReadOnly && !isServedElsewhere(filesOf(path))) {
    const lost = assertNoLostRows(path, options.acceptOlder);
    if (lost && !isNew) options.onUncertain?.(lost);
  }
  if (isReadOnly) return openOnlyForReading(file, clock, options.staging);
  const writer = threaded ? await startWriterThread(file, log) : openInlineWriter(file);
  try {
    if (threaded) await startEpoch(writer);
    const files = prepareFiles(path);
    const database = openForReading(path);
    const access = threaded
      ? openServiceAccess(database, files, writer, log)
      : openCommandAccess(database, files, writer, onUnseen);
    const parts = { ...file, clock, isService: threaded, writer, database, access };
    const ports = createPorts(parts);
    if (isNew) options.onCreated?.();
    return {
      ...ports,
      applyStaged: applierOf(parts),
      async close() {
        access.close();
        // The writer closes last: only a connection that can write can run a WAL checkpoint.
        database.close();
        await writer.close();
      },
    };
  } catch (error) {
    // A thread that is left running would keep a process that failed to start from ending.
    await writer.close();
    throw error;
  }
}

/** Rejects a file that this version cannot use, before anything is written to it or beside it. */
const assertReadable = guarded((path: string, environment: Environment): void => {
  using database = openForReading(path, busyWaitMs);
  if (assertOurs(database)) assertFits(database, environment);
});

/** Opens a store for a process that only reads. SQLite itself then writes to no file but its `-shm`. */
function openOnlyForReading(
  file: WrittenFile,
  clock: Clock,
  staging: ServiceStaging | undefined,
): SqliteStore {
  const database = openForReading(file.path, busyWaitMs);
  try {
    const opened = openReadingAccess(database, filesOf(file.path));
    const parts = { ...file, ...opened, clock, isService: false, database, staging };
    const close = async () => database.close();
    return { ...createPorts(parts), applyStaged: applierOf(parts), close };
  } catch (error) {
    database.close();
    throw unavailableOr(error);
  }
}
