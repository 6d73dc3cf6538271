import type { Database } from "bun:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { ImportPreview } from "../../domain/catalogue/import-preview.ts";
import { createProblems, RejectedImport } from "../../domain/catalogue/import-problems.ts";
import type { CatalogueStore, Import } from "../../domain/catalogue/store.ts";
import type { Head, IdempotencyStore, InventoryStore } from "../../domain/ledger/store.ts";
import type { Clock } from "../../domain/running/clock.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { Store } from "../../domain/store.ts";
import type { TransferStore } from "../../domain/verification/store.ts";
import { checkpointReads } from "../checkpoints.ts";
import { createScriptedPorts } from "../scripted-ports.ts";
import { orderStaging, petStaging, type Staging } from "../staged-rows.ts";
import type { Promising } from "../statements.ts";
import { banWrites, usageHistoryReads } from "../usage.ts";
import { createCatalogueReader } from "./catalogue.ts";
import { checkpointWrites } from "./checkpoints.ts";
import * as connection from "./engine/connection.ts";
import { dialect, scriptsOn } from "./engine/scripts.ts";
import { nameStageFile, removeStageFile } from "./engine/stage-files.ts";
import { createHistoryReader } from "./history.ts";
import type { Applied, StagedImport } from "./imports.ts";
import { createInventoryReader } from "./inventory.ts";
import { createPreview, stageInFile } from "./staging.ts";
import { checkStructure } from "./structure.ts";
import { importTables, rowsFrom } from "./transfer.ts";
import { banReads, usageReads, usageWrites } from "./usage.ts";
import { usageHistoryWrites } from "./usage-history.ts";
import { deliveryWrites, leaseReads } from "./webhooks.ts";
import type { Access } from "./writing/access.ts";
import {
  busyWaitMs,
  type Writer,
  type WriterArgs,
  type WriterMethod,
  type WriterResult,
} from "./writing/writer.ts";

/** The parts of an open store. */
export interface Parts extends connection.WrittenFile {
  readonly clock: Clock;
  /** Whether this process serves the store. */
  readonly isService: boolean;
  readonly writer: Writer;
  /** The connection for reading on this thread. */
  readonly database: Database;
  readonly access: Access;
  readonly staging?: ServiceStaging | undefined;
}

export type ApplyStaged = (given: StagedImport) => Promise<Applied>;

/** Where a process of the service stages its import, and how the service applies it. */
export interface ServiceStaging {
  readonly stageFile: string;
  readonly apply: ApplyStaged;
}

/** Applies imports whose rows are staged. */
export const applierOf = (parts: Parts): ApplyStaged => write(parts, "applyImport");

/** The ports of a store. Each reads on this thread and writes through the writer. */
export function createPorts(parts: Parts): Omit<Store, "close"> {
  const { clock, database } = parts;
  const quick = <S extends object>(scripts: S) => readable(parts, scriptsOn(database, scripts));
  const reads = <S extends object>(scripts: S) => connection.promised(quick(scripts));
  const writes = <S extends object>(scripts: S) => writesOf(parts, scripts);
  const { pets, webhooks, ...scripted } = createScriptedPorts({ quick, reads, writes }, dialect);
  const { loadBans } = quick(banReads);
  const { hasUnclaimed, listHeld } = quick(leaseReads);
  const { claimLeases, ...deliveries } = writes(deliveryWrites);
  return {
    ...scripted,
    inventory: createInventoryStore(parts),
    history: readable(parts, createHistoryReader(database)),
    checkpoints: { ...quick(checkpointReads), ...writes(checkpointWrites) },
    idempotency: createIdempotencyStore(parts),
    catalogue: { ...createCatalogueStore(parts), ...pets },
    usage: {
      ...reads(usageReads),
      loadBans: async () => loadBans(clock.now()),
      ...writes({ ...usageWrites, ...banWrites(dialect) }),
    },
    usageHistory: { ...reads(usageHistoryReads), ...writes(usageHistoryWrites) },
    webhooks: {
      ...webhooks,
      ...deliveries,
      async claimWebhooks(holder) {
        // Rarely true. The service claims all the time, and each write would be flushed to disk.
        if (hasUnclaimed(holder)) await claimLeases(holder);
        return listHeld(holder);
      },
    },
    transfer: createTransferStore(parts),
  };
}

/** Returns the same reader. It throws on damaged files and converts errors of SQLite. */
function readable<T extends object>({ access }: Parts, reader: T): T {
  return connection.wrapMethods(reader, (method) =>
    connection.guarded((...args) => access.read(() => method(...args))),
  );
}

/** Returns a method of the writer as a method of the store. */
function write<M extends WriterMethod>({ access, writer }: Parts, method: M) {
  return (...args: WriterArgs<M>): Promise<WriterResult<M>> =>
    access.write(() => writer.call(method, ...args));
}

/** The methods of the writer that these scripts are. */
function writesOf<S extends object>(parts: Parts, scripts: S): Promising<S> {
  const methods = Object.keys(scripts) as WriterMethod[];
  return Object.fromEntries(
    methods.map((method) => [method, write(parts, method)]),
  ) as Promising<S>;
}

/** How long a long write waits for the write lock. */
const importWaitMs = 60_000;

/** Between these times, the writer can store updates. */
const importRetryMs = 50;

function createInventoryStore(parts: Parts): InventoryStore {
  const { clock, isService, writer, database, access } = parts;
  const reader = readable(parts, createInventoryReader(database));
  let version: number | undefined;
  let head: Head;
  return {
    ...reader,
    // Without the check of a read, because it is called after every commit.
    isOutdated: () => false,
    readClock: clock.now,
    /** Reads the file only if a process has written since the last call. */
    cachedHead: connection.guarded(() => {
      const found = access.version();
      if (found !== version) {
        head = reader.readHead();
        version = found;
      }
      return head;
    }),
    async commit(units, withinMs = busyWaitMs) {
      const before = access.version();
      const committed = await access.write(() => writer.commit(units, clock.now(), withinMs));
      // If this write alone has changed the version, nobody else has written since it began. A command's
      // version is SQLite's, which counts the writes of several connections as one.
      const isAlone = isService && access.version() === before + 1;
      if (isAlone && committed.rows.length > 0) [head, version] = [committed.head, before + 1];
      return committed;
    },
    mayOverlap: () => false,
    canWrite: () => writer.isAlive() && access.canWrite(),
  };
}

function createIdempotencyStore(parts: Parts): IdempotencyStore {
  const loadIdempotency = write(parts, "loadIdempotency");
  return {
    async prepare() {
      // In steps, between which updates are stored.
      while (await loadIdempotency());
    },
    prune: write(parts, "pruneIdempotency"),
  };
}

/** An import: its rows are staged in a file, which the writer then applies. */
function importOf<T extends { readonly line: number }>(
  parts: Parts,
  what: StagedImport["what"],
  staging: Staging<T>,
): Import<T> {
  const { path, clock, staging: ofService } = parts;
  const apply = ofService?.apply ?? applierOf(parts);

  async function applyOnceFree(given: Omit<StagedImport, "now">): Promise<Applied> {
    const giveUpAt = performance.now() + importWaitMs;
    for (;;) {
      try {
        return await apply({ ...given, now: clock.now() });
      } catch (error) {
        const isBusy = error instanceof ServiceError && error.reason === "busy";
        if (!isBusy || performance.now() > giveUpAt) throw error;
        await sleep(importRetryMs);
      }
    }
  }

  return async (records, origin, problems = createProblems()) => {
    const file = ofService?.stageFile ?? nameStageFile(path);
    try {
      const staged = await stageInFile(path, file, staging, records, problems);
      const applied = await applyOnceFree({ what, file, staged, origin });
      if (!("problems" in applied)) return applied;
      for (const problem of applied.problems) problems.add(problem);
      problems.addUnlisted(applied.count - applied.problems.length);
      throw new RejectedImport(problems);
    } finally {
      removeStageFile(file);
    }
  };
}

function createCatalogueStore(parts: Parts): Omit<CatalogueStore, "changePet"> {
  const { path, clock, database, access } = parts;
  const createPet = write(parts, "createPet");
  const removePet = write(parts, "removePet");
  const preview = async <T>(work: (preview: ImportPreview) => Promise<T>) =>
    connection.useConnection(
      access.read(() => connection.openForStaging(path)),
      (own) => work(createPreview(own)),
    );
  return {
    ...readable(parts, createCatalogueReader(database)),
    importPets: importOf(parts, "pets", petStaging),
    importOrders: importOf(parts, "orders", orderStaging),
    createPet: (...args) => createPet(...args, clock.now()),
    removePet: (...args) => removePet(...args, clock.now()),
    previewPets: (...args) => preview((own) => own.previewPets(...args)),
    previewOrders: (...args) => preview((own) => own.previewOrders(...args)),
  };
}

function createTransferStore(parts: Parts): TransferStore {
  const { path, access } = parts;
  return {
    snapshot: async (work) =>
      connection.useConnection(
        access.read(() => connection.openForReading(path)),
        (own) => {
          // A transaction that only reads sees one state of the store until it ends.
          own.run("BEGIN");
          return work({
            ...connection.wrapMethods(createInventoryReader(own), connection.guarded),
            ...connection.wrapMethods(createHistoryReader(own), connection.guarded),
            ...connection.wrapMethods(createCatalogueReader(own), connection.guarded),
            ...connection.wrapMethods(scriptsOn(own, checkpointReads), connection.guarded),
            rowsOf: rowsFrom(own),
            checkStructure: () => checkStructure(own),
          });
        },
      ),
    // On a connection of its own: it waits for the rows of another store.
    importTables: (rowsOf) =>
      access.write(async () =>
        connection.useConnection(connection.openForWriting(parts, importWaitMs), (own) =>
          importTables(own, rowsOf),
        ),
      ),
  };
}
