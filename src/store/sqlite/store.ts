import type { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import { Refusal } from "../../domain/errors.ts";
import type { Environment } from "../../domain/keys.ts";
import type { Clock, Head, Log, Store } from "../../domain/ports.ts";
import { createCatalogueReader } from "./catalogue.ts";
import { assertUndamaged } from "./engine/change-signal.ts";
import {
  guarded,
  guardedReader,
  openForReading,
  openForWriting,
  unavailableOr,
} from "./engine/connection.ts";
import { coordinateCommand, coordinateService } from "./engine/coordination.ts";
import { nameFiles, prepareFiles } from "./engine/files.ts";
import { type Asynchronous, busyWaitMs, createWriter, type Writer } from "./engine/writer.ts";
import { startWriterThread, type WriterThread } from "./engine/writer-thread.ts";
import { importOrders, importPets } from "./imports.ts";
import { createInventoryReader } from "./inventory.ts";
import { createKeyReader } from "./keys.ts";
import { checkStructure } from "./structure.ts";
import { importTables, rowsFrom } from "./transfer.ts";
import { createUsageReader } from "./usage.ts";

export interface SqliteOptions {
  readonly path: string;
  readonly environment: Environment;
  readonly clock: Clock;
  /**
   * Whether writes go to a thread of their own. A service wants that, so that reads go on while a
   * disk flush is under way; a command that does one thing and ends does not need it.
   */
  readonly threaded: boolean;
  /** Told of damage to the files of a store with a thread; a command's store throws instead. */
  readonly log?: Log | undefined;
}

/** A command has nobody waiting on a socket: it can let others finish. */
const patientWaitMs = 60_000;

export async function openSqlite(options: SqliteOptions): Promise<Store> {
  const { path, environment, threaded, log = () => {} } = options;
  // Opening a store beside a process that has lost track of its files would do more damage.
  if (!threaded) assertUndamaged(nameFiles(path));
  const thread = threaded ? await startWriterThread(path, environment, log) : undefined;
  const writer = thread ?? inline(createWriter(path, environment));
  try {
    return await openAround(writer, thread, options);
  } catch (error) {
    // A thread left behind would keep a process that failed to start from ending.
    await writer.close();
    throw error;
  }
}

async function openAround(
  writer: Omit<Asynchronous<Writer>, "findDamage">,
  thread: WriterThread | undefined,
  { path, environment, clock, log = () => {} }: SqliteOptions,
): Promise<Store> {
  // A store put back from a copy counts on from where the copy ended, with other rows under the
  // same numbers. No list of before may pass for one of after, so every start begins an epoch.
  await thread?.beginEpoch(randomUUID()).catch(passOverUnavailable);
  const files = prepareFiles(path);
  const database = openForReading(path);
  const others = thread
    ? coordinateService(database, files, thread, log)
    : coordinateCommand(database, files);
  const reader = readable(createInventoryReader(database));
  const catalogue = readable(createCatalogueReader(database));
  const keys = readable(createKeyReader(database));
  const usage = readable(createUsageReader(database));
  let seen: number | undefined;
  let head: Head;

  return {
    inventory: {
      ...reader,
      /** Reads the file only if somebody has written since the last call. */
      cachedHead: guarded(() => {
        const version = others.version();
        if (version !== seen) {
          head = reader.readHead();
          seen = version;
        }
        return head;
      }),
      commit: written((units, withinMs = busyWaitMs) =>
        writer.commit(units, clock.now(), withinMs),
      ),
      canWrite: () => (thread?.isAlive() ?? true) && others.canWrite(),
    },
    catalogue: {
      ...catalogue,
      importPets: written((records, reason) =>
        onOwnConnection((own) => importPets(own, records, reason, clock.now)),
      ),
      importOrders: written((records) => onOwnConnection((own) => importOrders(own, records))),
    },
    keys: {
      findSecret: keys.findSecret,
      findKey: async (id) => keys.findKey(id),
      listKeys: async () => keys.listKeys(),
      addKey: written(writer.addKey),
      addSecret: written(writer.addSecret),
      revokeKey: written(writer.revokeKey),
    },
    usage: {
      loadUsage: async () => usage.loadUsage(),
      loadBans: async () => usage.loadBans(),
      saveUsage: written(writer.saveUsage),
      saveBan: written(writer.saveBan),
      liftBan: written(writer.liftBan),
    },
    transfer: {
      snapshot: (work) =>
        atOneMoment((own) =>
          work({
            ...guardedReader(createInventoryReader(own)),
            ...guardedReader(createCatalogueReader(own)),
            rowsOf: rowsFrom(own),
            checkStructure: () => checkStructure(own),
          }),
        ),
      importTables: written((rowsOf) => onOwnConnection((own) => importTables(own, rowsOf))),
    },
    async close() {
      if (!others.close()) endWithoutClosing(log);
      // The writer leaves last: only a connection that may write can fold the log into the file.
      database.close();
      await writer.close();
    },
  };

  function written<A extends unknown[], T>(
    work: (...args: A) => Promise<T>,
  ): (...args: A) => Promise<T> {
    return (...args) => others.write(() => work(...args));
  }

  /** Engine failures leave as refusals, and files that are damaged are not read. */
  function readable<T extends object>(reader: T): T {
    const methods = Object.entries(reader).map(([name, method]) => [
      name,
      guarded((...args: unknown[]) => others.read(() => method(...args))),
    ]);
    return Object.fromEntries(methods) as T;
  }

  /** A transaction that only reads sees one state of the file for as long as it lasts. */
  async function atOneMoment<T>(work: (own: Database) => Promise<T>): Promise<T> {
    const own = others.read(() => openForReading(path));
    try {
      own.run("BEGIN");
      return await work(own);
    } catch (error) {
      throw unavailableOr(error);
    } finally {
      own.close();
    }
  }

  async function onOwnConnection<T>(work: (own: Database) => Promise<T>): Promise<T> {
    const own = openForWriting(path, environment, patientWaitMs);
    try {
      return await work(own);
    } catch (error) {
      throw unavailableOr(error);
    } finally {
      own.close();
    }
  }
}

/**
 * Ends the process at once. Closing the last connection folds the log into the file and deletes it,
 * by its name; when another process has a new log there, that would destroy what it wrote. Bun
 * closes every connection on any other way out.
 */
function endWithoutClosing(log: Log): void {
  log("ending without closing the store: another process has a new log in the place of ours");
  process.kill(process.pid, "SIGKILL");
}

/** A full disk is no reason not to serve what is on it. */
function passOverUnavailable(error: unknown): void {
  if (!(error instanceof Refusal && error.code === "unavailable")) throw error;
}

function inline(writer: Writer): Asynchronous<Writer> {
  const entries = Object.entries(writer).map(([name, method]) => [
    name,
    async (...args: never[]) => (method as (...args: never[]) => unknown)(...args),
  ]);
  return Object.fromEntries(entries) as Asynchronous<Writer>;
}
