import type { Database } from "bun:sqlite";
import type { Access } from "./access.ts";
import { openForWriting, useConnection } from "./connection.ts";
import { guarded, wrapMethods } from "./failures.ts";
import type { SqliteOptions } from "./options.ts";
import type { Writer, WriterArgs, WriterMethod, WriterResult } from "./writer.ts";

/** The parts of an open store. */
export interface Parts {
  readonly options: SqliteOptions;
  readonly writer: Writer;
  /** The connection for reading on this thread. */
  readonly database: Database;
  readonly access: Access;
}

/** How long an import waits for the write lock. No client is waiting for a command. */
const importWaitMs = 60_000;

/** Returns the same reader. It throws on damaged files and converts errors of SQLite. */
export function readable<T extends object>({ access }: Parts, reader: T): T {
  return wrapMethods(reader, (method) => guarded((...args) => access.read(() => method(...args))));
}

/** Returns a method of the writer as a method of the store. */
export function write<M extends WriterMethod>({ access, writer }: Parts, method: M) {
  return (...args: WriterArgs<M>): Promise<WriterResult<M>> =>
    access.write(() => writer.call(method, ...args));
}

/** Runs a long write on a connection of its own, so that it does not block the writer. */
export function writeAlone<T>(
  { options, access }: Parts,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const { path, environment } = options;
  return access.write(async () =>
    useConnection(openForWriting(path, environment, importWaitMs), work),
  );
}
