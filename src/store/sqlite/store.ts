import { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { Refusal } from "../../domain/errors.ts";
import type { Environment } from "../../domain/keys.ts";
import type { Clock, Head, Store } from "../../domain/ports.ts";
import { rowsFrom, takeOver } from "./carrying.ts";
import { watchChanges } from "./changes.ts";
import {
  guarded,
  guardedReader,
  openForReading,
  openForWriting,
  unavailableOr,
} from "./database.ts";
import { importOrders, importPets } from "./importing.ts";
import { createKeyReader } from "./keeping.ts";
import { watchPlace } from "./place.ts";
import { createReader } from "./reading.ts";
import { checkStructure } from "./structure.ts";
import { startWriterThread, type WriterThread } from "./thread.ts";
import { type Asynchronous, createWriter, type Writer } from "./writer.ts";

export interface SqliteOptions {
  readonly path: string;
  readonly environment: Environment;
  readonly clock: Clock;
  /**
   * Whether writes go to a thread of their own. A service wants that, so that reads go on while a
   * disk flush is under way; a command that does one thing and ends does not need it.
   */
  readonly threaded: boolean;
}

/** A command has nobody waiting on a socket: it can let others finish. */
const busyWaitMs = 60_000;

export async function openSqlite(options: SqliteOptions): Promise<Store> {
  const { path, environment } = options;
  const thread = options.threaded ? await startWriterThread(path, environment) : undefined;
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
  writer: Asynchronous<Writer>,
  thread: WriterThread | undefined,
  { path, environment, clock, threaded }: SqliteOptions,
): Promise<Store> {
  // A store put back from a copy counts on from where the copy ended, with other rows under the
  // same numbers. No list of before may pass for one of after, so every start begins an epoch.
  await thread?.beginEpoch(randomUUID()).catch(passOverUnavailable);
  const database = openForReading(path);
  const place = watchPlace(path);
  const reader = guardedReader(createReader(database));
  const keys = guardedReader(createKeyReader(database));
  const watch = watchChanges(database, path, threaded);
  let seen: number | undefined;
  let head: Head;

  return {
    ...reader,
    /** The file is read only if somebody has written since the last glance. */
    glance: guarded(() => {
      const mark = watch.mark();
      if (mark !== seen) {
        head = reader.look();
        seen = mark;
      }
      return head;
    }),
    snapshot: (work) =>
      atOneMoment((own) =>
        work({
          ...guardedReader(createReader(own)),
          rowsOf: rowsFrom(own),
          checkStructure: () => checkStructure(own),
        }),
      ),
    canWrite: () => (thread?.isAlive() ?? true) && place.isHeld(),
    commit: announced(async (changes) => {
      place.assertHeld();
      const outcomes = await writer.commit(changes, clock.now());
      place.assertHeld();
      return outcomes;
    }),
    importPets: announced((records, reason) =>
      onOwnConnection((own) => importPets(own, records, reason, clock.now)),
    ),
    importOrders: (records) => onOwnConnection((own) => importOrders(own, records)),
    carryOut: (work) => atOneMoment((own) => work(rowsFrom(own))),
    carryIn: announced((rowsOf) => onOwnConnection((own) => takeOver(own, rowsOf))),
    findSecret: keys.findSecret,
    findKey: async (id) => keys.findKey(id),
    listKeys: async () => keys.listKeys(),
    loadUsage: async () => keys.loadUsage(),
    loadBans: async () => keys.loadBans(),
    addKey: announced(writer.addKey),
    addSecret: announced(writer.addSecret),
    revokeKey: announced(writer.revokeKey),
    saveUsage: writer.saveUsage,
    saveBan: writer.saveBan,
    liftBan: announced(writer.liftBan),
    async close() {
      watch.close();
      // The writer leaves last: only a connection that may write can fold the log into the file.
      database.close();
      await writer.close();
    },
  };

  /** What changes the head is announced before anybody is told that it is done. */
  function announced<A extends unknown[], T>(
    work: (...args: A) => Promise<T>,
  ): (...args: A) => Promise<T> {
    return async (...args) => {
      try {
        return await work(...args);
      } finally {
        watch.announce();
      }
    };
  }

  /** A transaction that only reads sees one state of the file for as long as it lasts. */
  async function atOneMoment<T>(work: (own: Database) => Promise<T>): Promise<T> {
    const own = openForReading(path);
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
    const own = openForWriting(path, environment, busyWaitMs);
    try {
      return await work(own);
    } catch (error) {
      throw unavailableOr(error);
    } finally {
      own.close();
    }
  }
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

/**
 * Claims the file for one serving process. Two of them would each count limits on their own and
 * admit twice as many requests. The claim is a lock the operating system drops with the process.
 */
export function claimForServing(path: string): () => void {
  mkdirSync(dirname(path), { recursive: true });
  // A link to the file is the file: the engine itself follows it too.
  const file = existsSync(path) ? realpathSync(path) : path;
  const claim = new Database(`${file}-serving`, { create: true });
  try {
    claim.run("PRAGMA busy_timeout = 0");
    claim.run("PRAGMA locking_mode = EXCLUSIVE");
    claim.run("BEGIN EXCLUSIVE");
  } catch {
    claim.close();
    throw new Refusal("unavailable", `another petstore is already serving ${path}`);
  }
  return () => claim.close();
}
