// A service as a process of its own, with a store to try it with, and what its process takes.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { memoryOf, readProc } from "../bench/processes.ts";
import { startPostgres } from "../test/support/postgres.ts";
import { openWorkspace, signalUntilEnd } from "../test/support/process.ts";
import type { Engine } from "../test/support/service.ts";
import { importPets, withStoreAt } from "../test/support/stocking.ts";
import type { Wrong } from "./part.ts";
import { contentOf, createStore, type Keys } from "./store.ts";

export interface ServedStore extends Keys {
  readonly engine: Engine;
  readonly database: string;
  readonly baseUrl: string;
  readonly pid: number;
  sample(): Sample;
  /** Lets the service end as a deployment does. The store stays until `leave`. */
  stop(): Promise<void>;
  leave(): Promise<void>;
}

/** What a process takes. */
export interface Sample {
  readonly memoryMb: number;
  readonly descriptors: number;
  readonly threads: number;
  /** The size of SQLite's log; 0 on PostgreSQL. */
  readonly walMb: number;
}

/** For clients that may send nothing for a while on a slow machine, and count what is closed as a fault. */
export const patient = ["--idle-timeout-seconds", "60"];

/** Starts a service whose store has the pets of `createStore` and these ones. */
export async function serveStore(
  engine: Engine,
  petIds: readonly number[],
  { isShort, flags = [] }: { isShort: boolean; flags?: readonly string[] },
): Promise<ServedStore> {
  const place = openWorkspace();
  const leaving = [() => place.leave()];
  const leave = async () => {
    for (const one of leaving) await one();
  };
  try {
    const file = join(place.folder, "production.db");
    let database = `sqlite:${file}`;
    if (engine === "postgres") {
      const server = await startPostgres({ fsync: !isShort });
      leaving.push(() => server.destroy());
      database = await server.freshDatabase();
    }
    const keys = await createStore(database);
    await importPets(database, ...petIds.map((petId) => `{"petId":${petId},"name":"Pet"}`));
    const served = await place.serve(["serve", "--database", database, ...flags]);
    const { pid, baseUrl } = served;
    return {
      ...keys,
      engine,
      database,
      baseUrl,
      pid,
      sample: () => ({
        memoryMb: memoryOf(pid)?.residentMb ?? 0,
        descriptors: countIn(`/proc/${pid}/fd`),
        threads: Number(/Threads:\s+(\d+)/.exec(readProc(pid, "status") ?? "")?.[1]),
        walMb: (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) / 2 ** 20,
      }),
      stop: async () => void (await signalUntilEnd(served, "SIGTERM")),
      leave,
    };
  } catch (error) {
    await leave();
    throw error;
  }
}

/** 0 without /proc, or if the process has ended. */
function countIn(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    return 0;
  }
}

/** Stops the service, verifies its store, and hands over the quantities in it. */
export async function checkStore(
  { database, stop }: ServedStore,
  fail: (wrong: Wrong, what: string) => void,
  compare: (quantities: ReadonlyMap<number, number>) => void,
): Promise<void> {
  await stop();
  const { faults, found } = await withStoreAt(database, contentOf);
  for (const fault of faults) fail("wrong", fault);
  compare(found.quantities);
}
