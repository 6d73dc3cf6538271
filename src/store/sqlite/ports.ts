import type { Database } from "bun:sqlite";
import type { ImportPreview } from "../../domain/catalogue/import-preview.ts";
import { createProblems } from "../../domain/catalogue/import-problems.ts";
import type { CatalogueStore } from "../../domain/catalogue/store.ts";
import type { Environment } from "../../domain/keys/keys.ts";
import type { Head, IdempotencyStore, InventoryStore } from "../../domain/ledger/store.ts";
import type { Clock } from "../../domain/running/clock.ts";
import type { Store } from "../../domain/store.ts";
import type { TransferStore } from "../../domain/verification/store.ts";
import type { WebhookStore } from "../../domain/webhooks/store.ts";
import { auditReads } from "../audit.ts";
import { checkpointReads } from "../checkpoints.ts";
import { keyReads, secretReads } from "../keys.ts";
import { maintenanceReads } from "../maintenance.ts";
import { sessionReads } from "../sessions.ts";
import { usageHistoryReads } from "../usage.ts";
import { webhookReads } from "../webhooks.ts";
import { createCatalogueReader } from "./catalogue.ts";
import {
  guarded,
  openForReading,
  openForStaging,
  openForWriting,
  promised,
  useConnection,
  wrapMethods,
} from "./engine/connection.ts";
import { filesOf } from "./engine/files.ts";
import { scriptsOn } from "./engine/scripts.ts";
import { isServed } from "./engine/serving-lock.ts";
import { createHistoryReader } from "./history.ts";
import { importOrders, importPets } from "./imports.ts";
import { createInventoryReader } from "./inventory.ts";
import { createPreview } from "./staging.ts";
import { checkStructure } from "./structure.ts";
import { importTables, rowsFrom } from "./transfer.ts";
import { banReads, usageReads } from "./usage.ts";
import { leaseReads } from "./webhooks.ts";
import type { Access } from "./writing/access.ts";
import {
  busyWaitMs,
  type Writer,
  type WriterArgs,
  type WriterMethod,
  type WriterResult,
} from "./writing/writer.ts";

/** The parts of an open store. */
export interface Parts {
  readonly path: string;
  readonly environment: Environment;
  readonly clock: Clock;
  /** Whether this process serves the store. */
  readonly isService: boolean;
  readonly writer: Writer;
  /** The connection for reading on this thread. */
  readonly database: Database;
  readonly access: Access;
}

/** The ports of a store. Each reads on this thread and writes through the writer. */
export function createPorts(parts: Parts): Omit<Store, "close"> {
  const { database } = parts;
  const bans = reads(parts, banReads);
  return {
    inventory: createInventoryStore(parts),
    history: readable(parts, createHistoryReader(database)),
    checkpoints: {
      ...reads(parts, checkpointReads),
      ...writes(parts, "claim", "removeUnfinished", "addPart", "complete"),
    },
    idempotency: createIdempotencyStore(parts),
    catalogue: createCatalogueStore(parts),
    keys: {
      ...promised(reads(parts, keyReads)),
      // Without a promise: it is called for every request with a key that is not in memory.
      ...reads(parts, secretReads),
      ...writes(parts, "addKey", "changeKey", "addSecret", "revokeKey"),
    },
    sessions: {
      ...reads(parts, sessionReads),
      ...writes(parts, "addSession", "removeSession"),
    },
    usage: {
      ...promised(reads(parts, usageReads)),
      loadBans: async () => bans.loadBans(parts.clock.now()),
      ...writes(parts, "saveUsage", "saveBan", "liftBan"),
    },
    usageHistory: {
      ...promised(reads(parts, usageHistoryReads)),
      ...writes(parts, "addCounts", "pruneCounts"),
    },
    webhooks: createWebhookStore(parts),
    maintenance: {
      ...promised(reads(parts, maintenanceReads)),
      ...writes(parts, "startTask", "endTask", "failTask"),
    },
    audit: {
      ...promised(reads(parts, auditReads)),
      ...writes(parts, "addEntry"),
    },
    transfer: createTransferStore(parts),
  };
}

/** Returns the same reader. It throws on damaged files and converts errors of SQLite. */
function readable<T extends object>({ access }: Parts, reader: T): T {
  return wrapMethods(reader, (method) => guarded((...args) => access.read(() => method(...args))));
}

/** Scripts that read, as such a reader. */
function reads<S extends object>(parts: Parts, scripts: S) {
  return readable(parts, scriptsOn(parts.database, scripts));
}

/** Returns a method of the writer as a method of the store. */
function write<M extends WriterMethod>({ access, writer }: Parts, method: M) {
  return (...args: WriterArgs<M>): Promise<WriterResult<M>> =>
    access.write(() => writer.call(method, ...args));
}

type Writes<M extends WriterMethod> = {
  readonly [N in M]: (...args: WriterArgs<N>) => Promise<WriterResult<N>>;
};

/** Several of them, under their names. */
function writes<M extends WriterMethod>(parts: Parts, ...methods: M[]): Writes<M> {
  return Object.fromEntries(methods.map((method) => [method, write(parts, method)])) as Writes<M>;
}

/** How long an import waits for the write lock. No client is waiting for a command. */
const importWaitMs = 60_000;

/** Runs a long write on a connection of its own, so that it does not block the writer. */
function writeAlone<T>(
  { path, environment, access }: Parts,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  return access.write(async () =>
    useConnection(openForWriting(path, environment, importWaitMs), work),
  );
}

function createInventoryStore(parts: Parts): InventoryStore {
  const { clock, writer, database, access } = parts;
  const reader = readable(parts, createInventoryReader(database));
  let version: number | undefined;
  let head: Head;
  return {
    ...reader,
    /** Reads the file only if a process has written since the last call. */
    cachedHead: guarded(() => {
      const found = access.version();
      if (found !== version) {
        head = reader.readHead();
        version = found;
      }
      return head;
    }),
    commit: (units, withinMs = busyWaitMs) =>
      access.write(() => writer.commit(units, clock.now(), withinMs)),
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

function createCatalogueStore(parts: Parts): CatalogueStore {
  const { path, clock, isService, database, access } = parts;
  const isStoreServed = () => isService || isServed(filesOf(path));
  const { createPet, removePet, changePet } = writes(parts, "createPet", "removePet", "changePet");
  const preview = async <T>(work: (preview: ImportPreview) => Promise<T>) =>
    useConnection(
      access.read(() => openForStaging(path)),
      (own) => work(createPreview(own)),
    );
  return {
    ...readable(parts, createCatalogueReader(database)),
    importPets: (records, origin, problems = createProblems()) =>
      writeAlone(parts, (own) =>
        importPets(own, records, problems, { origin, now: clock.now, isServed: isStoreServed }),
      ),
    importOrders: (records, origin, problems = createProblems()) =>
      writeAlone(parts, (own) => importOrders(own, records, problems, origin, clock.now)),
    createPet: (...args) => createPet(...args, clock.now()),
    removePet: (...args) => removePet(...args, clock.now()),
    changePet,
    previewPets: (...args) => preview((own) => own.previewPets(...args)),
    previewOrders: (...args) => preview((own) => own.previewOrders(...args)),
  };
}

function createWebhookStore(parts: Parts): WebhookStore {
  const { hasUnclaimed, listHeld } = reads(parts, leaseReads);
  const claim = write(parts, "claimLeases");
  return {
    ...promised(reads(parts, webhookReads)),
    ...writes(parts, "addWebhook", "changeWebhook", "removeWebhook"),
    ...writes(parts, "releaseWebhooks", "saveDelivered"),
    async claimWebhooks(holder) {
      // Rarely true. The service claims all the time, and each write would be flushed to disk.
      if (hasUnclaimed(holder)) await claim(holder);
      return listHeld(holder);
    },
  };
}

function createTransferStore(parts: Parts): TransferStore {
  const { path, access } = parts;
  return {
    snapshot: async (work) =>
      useConnection(
        access.read(() => openForReading(path)),
        (own) => {
          // A transaction that only reads sees one state of the store until it ends.
          own.run("BEGIN");
          return work({
            ...wrapMethods(createInventoryReader(own), guarded),
            ...wrapMethods(createHistoryReader(own), guarded),
            ...wrapMethods(createCatalogueReader(own), guarded),
            ...wrapMethods(scriptsOn(own, checkpointReads), guarded),
            rowsOf: rowsFrom(own),
            checkStructure: () => checkStructure(own),
          });
        },
      ),
    importTables: (rowsOf) => writeAlone(parts, (own) => importTables(own, rowsOf)),
  };
}
