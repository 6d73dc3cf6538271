import type { ImportPreview } from "../../domain/catalogue/import-preview.ts";
import { createProblems } from "../../domain/catalogue/import-problems.ts";
import type { CatalogueStore } from "../../domain/catalogue/store.ts";
import type { Head, IdempotencyStore, InventoryStore } from "../../domain/ledger/store.ts";
import type { MaintenanceStore } from "../../domain/operations/maintenance.ts";
import type { CheckpointStore } from "../../domain/snapshots/store.ts";
import type { Store } from "../../domain/store.ts";
import type { TransferStore } from "../../domain/verification/store.ts";
import type { WebhookStore } from "../../domain/webhooks/store.ts";
import { createCatalogueReader } from "./catalogue.ts";
import { createCheckpointReader } from "./checkpoints.ts";
import { openCommandAccess, openServiceAccess } from "./engine/access.ts";
import { assertUndamaged } from "./engine/change-signal.ts";
import { openForReading, openForStaging, useConnection } from "./engine/connection.ts";
import { assertNotServedByOlderVersion, assertStore } from "./engine/existence.ts";
import { endWithoutClosing, guarded, wrapMethods } from "./engine/failures.ts";
import { filesOf, hasContent, prepareFiles } from "./engine/files.ts";
import {
  createAuditStore,
  createKeyStore,
  createSessionStore,
  createUsageHistoryStore,
  createUsageStore,
} from "./engine/key-stores.ts";
import type { SqliteOptions } from "./engine/options.ts";
import { type Parts, readable, write, writeAlone } from "./engine/parts.ts";
import { recoverFile } from "./engine/recovery.ts";
import { isServed } from "./engine/serving-lock.ts";
import { upgradeFile } from "./engine/upgrade.ts";
import { busyWaitMs, openInlineWriter, startEpoch } from "./engine/writer.ts";
import { startWriterThread } from "./engine/writer-thread.ts";
import { createHistoryReader } from "./history.ts";
import { importOrders, importPets } from "./imports.ts";
import { createInventoryReader } from "./inventory.ts";
import { createMaintenanceReader } from "./maintenance.ts";
import { createPreview } from "./previews.ts";
import { steps } from "./schema/steps.ts";
import { checkStructure } from "./structure.ts";
import { importTables, rowsFrom } from "./transfer.ts";
import { createWebhookReader, createWebhooks } from "./webhooks.ts";

/** The version of the schema that this version of petstore uses. */
export const sqliteSchema = steps.length;

export async function openSqlite(options: SqliteOptions): Promise<Store> {
  const { path, environment, threaded, log = () => {}, mayCreate = true } = options;
  // Checked first: opening a store whose service has lost track of its files adds more damage.
  if (!threaded) assertUndamaged(filesOf(path));
  recoverFile(path);
  if (!mayCreate) assertStore(path);
  if (!threaded) assertNotServedByOlderVersion(path);
  const isNew = !hasContent(path);
  const migration = upgradeFile(path, environment, options.clock.now());
  if (migration) options.onMigrated?.(migration);
  const writer = threaded
    ? await startWriterThread(path, environment, log)
    : openInlineWriter(path, environment);
  try {
    if (threaded) await startEpoch(writer);
    const files = prepareFiles(path);
    const database = openForReading(path);
    const access = threaded
      ? openServiceAccess(database, files, writer, log)
      : openCommandAccess(database, files);
    const store = createStore({ options, writer, database, access });
    if (isNew) options.onCreated?.();
    return store;
  } catch (error) {
    // A thread that is left running would keep a process that failed to start from ending.
    await writer.close();
    throw error;
  }
}

function createStore(parts: Parts): Store {
  const { options, writer, database, access } = parts;
  return {
    inventory: createInventoryStore(parts),
    history: readable(parts, createHistoryReader(database)),
    checkpoints: createCheckpointStore(parts),
    idempotency: createIdempotencyStore(parts),
    catalogue: createCatalogueStore(parts),
    keys: createKeyStore(parts),
    sessions: createSessionStore(parts),
    usage: createUsageStore(parts),
    usageHistory: createUsageHistoryStore(parts),
    webhooks: createWebhookStore(parts),
    maintenance: createMaintenanceStore(parts),
    audit: createAuditStore(parts),
    transfer: createTransferStore(parts),
    async close() {
      if (!access.close()) await endWithoutClosing(options.log);
      // The writer closes last: only a connection that can write can checkpoint the log.
      database.close();
      await writer.close();
    },
  };
}

function createInventoryStore(parts: Parts): InventoryStore {
  const { options, writer, database, access } = parts;
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
      access.write(() => writer.commit(units, options.clock.now(), withinMs)),
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

function createCheckpointStore(parts: Parts): CheckpointStore {
  return {
    ...readable(parts, createCheckpointReader(parts.database)),
    claim: write(parts, "claimCheckpoints"),
    removeUnfinished: write(parts, "removeUnfinishedParts"),
    addPart: write(parts, "addCheckpointPart"),
    complete: write(parts, "completeCheckpoint"),
  };
}

function createCatalogueStore(parts: Parts): CatalogueStore {
  const { path, clock, threaded } = parts.options;
  // A store with a thread is the serving process.
  const isStoreServed = () => threaded || isServed(filesOf(path));
  const [createPet, removePet] = [write(parts, "createPet"), write(parts, "removePet")];
  const preview = async <T>(work: (preview: ImportPreview) => Promise<T>) =>
    useConnection(
      parts.access.read(() => openForStaging(path)),
      (own) => work(createPreview(own)),
    );
  return {
    ...readable(parts, createCatalogueReader(parts.database)),
    importPets: (records, origin, problems = createProblems()) =>
      writeAlone(parts, (own) =>
        importPets(own, records, problems, { origin, now: clock.now, isServed: isStoreServed }),
      ),
    importOrders: (records, origin, problems = createProblems()) =>
      writeAlone(parts, (own) => importOrders(own, records, problems, origin, clock.now)),
    createPet: (...args) => createPet(...args, clock.now()),
    removePet: (...args) => removePet(...args, clock.now()),
    changePet: write(parts, "changePet"),
    previewPets: (...args) => preview((own) => own.previewPets(...args)),
    previewOrders: (...args) => preview((own) => own.previewOrders(...args)),
  };
}

function createWebhookStore(parts: Parts): WebhookStore {
  return createWebhooks(readable(parts, createWebhookReader(parts.database)), {
    addWebhook: write(parts, "addWebhook"),
    changeWebhook: write(parts, "changeWebhook"),
    removeWebhook: write(parts, "removeWebhook"),
    claim: write(parts, "claimWebhooks"),
    releaseWebhooks: write(parts, "releaseWebhooks"),
    saveDelivered: write(parts, "saveDelivered"),
  });
}

function createMaintenanceStore(parts: Parts): MaintenanceStore {
  const { listMaintenance } = readable(parts, createMaintenanceReader(parts.database));
  return {
    listMaintenance: async () => listMaintenance(),
    startTask: write(parts, "startTask"),
    endTask: write(parts, "endTask"),
    failTask: write(parts, "failTask"),
  };
}

function createTransferStore(parts: Parts): TransferStore {
  const { options, access } = parts;
  return {
    snapshot: async (work) =>
      useConnection(
        access.read(() => openForReading(options.path)),
        (own) => {
          // A transaction that only reads sees one state of the store until it ends.
          own.run("BEGIN");
          return work({
            ...wrapMethods(createInventoryReader(own), guarded),
            ...wrapMethods(createHistoryReader(own), guarded),
            ...wrapMethods(createCatalogueReader(own), guarded),
            ...wrapMethods(createCheckpointReader(own), guarded),
            rowsOf: rowsFrom(own),
            checkStructure: () => checkStructure(own),
          });
        },
      ),
    importTables: (rowsOf) => writeAlone(parts, (own) => importTables(own, rowsOf)),
  };
}
