import type { Database } from "bun:sqlite";
import type { Batches, Imported, ImportOrigin } from "../../domain/catalogue/import-preview.ts";
import { type Problems, rejectProblems } from "../../domain/catalogue/import-problems.ts";
import type { OrderRecord } from "../../domain/catalogue/orders.ts";
import { newPetStock, type PetRecord } from "../../domain/catalogue/pets.ts";
import { hashText, sourceText } from "../../domain/ledger/chain.ts";
import { petStatuses, quantityMax } from "../../domain/ledger/inventory.ts";
import type { Tip } from "../../domain/ledger/ledger.ts";
import { assignImported, freeReplaced, insertStaged, petDiffers } from "../pet-rows.ts";
import { tipColumns, toTip } from "../rows.ts";
import {
  applyOrders,
  causeOf,
  checkStaged,
  noteImport,
  orderStaging,
  petStaging,
  stockDiffers,
} from "../staged-rows.ts";
import { inTransaction, setPragma } from "./engine/connection.ts";
import { createRunner, dialect } from "./engine/scripts.ts";
import { beginUnservedEpoch, readUnservedEpoch } from "./epochs.ts";
import { stageRows } from "./staging.ts";

/** How an import of pets becomes rows of the ledger. */
export interface LedgerOptions {
  readonly origin: ImportOrigin;
  now(): number;
  /** Whether a service runs on this store. */
  isServed(): boolean;
}

/**
 * Imports pets. Rows are staged in a temporary table, which needs no lock, and then applied by a few
 * statements over all of them. A million rows hold the write lock for seconds, not minutes.
 */
export async function importPets(
  database: Database,
  records: Batches<PetRecord>,
  problems: Problems,
  options: LedgerOptions,
): Promise<Imported> {
  const run = createRunner(database);
  const staged = await stageRows(database, petStaging, records, problems);
  // Without the lock for a file that is already known to be bad.
  if (problems.count() > 0) run(checkStaged(petStaging, problems));
  assertStagedStocks(database);
  const unservedEpoch = readUnservedEpoch(database, options.isServed);
  // For a million rows, the constraints of the tables would take more than a second of the lock.
  setPragma(database, "ignore_check_constraints", 1n);
  setPragma(database, "foreign_keys", 0n);
  return inTransaction(database, () => {
    run(causeOf(options.origin));
    run(checkStaged(petStaging, problems));
    return applyPets(database, staged, options, unservedEpoch);
  })();
}

/** Checks the constraints of stock before the lock is taken. A file that breaks them was rejected before. */
function assertStagedStocks(database: Database): void {
  const invalid = database.query(
    `SELECT pet_id FROM staged_pets
     WHERE quantity NOT BETWEEN 0 AND ${quantityMax}
       OR status NOT IN (${petStatuses.map((status) => `'${status}'`).join()}) LIMIT 1`,
  );
  for (const [petId] of invalid.values()) throw new Error(`the stock of pet ${petId} is invalid`);
}

function applyPets(
  database: Database,
  staged: number,
  options: LedgerOptions,
  unservedEpoch: string | undefined,
): Imported {
  const changed = countChanged(database);
  database.run(freeReplaced);
  database.run(
    `UPDATE pets AS p SET ${assignImported}
     FROM staged_pets s WHERE s.pet_id = p.pet_id AND ${petDiffers}`,
  );
  // Existing pets are skipped by the conflict clause, not by a subquery: a statement that reads the
  // table it inserts into has to copy all its rows first.
  const { changes: created } = database.run(
    `${insertStaged} WHERE true ON CONFLICT (pet_id) DO NOTHING`,
  );
  appendRows(database, options, unservedEpoch);
  const imported = { created, changed, unchanged: staged - created - changed };
  const { origin, now } = options;
  createRunner(database)(noteImport(dialect, "pets.imported", origin, imported, now()));
  return imported;
}

/** Appends a ledger row for every entry that is created or changed, and updates the entries. */
function appendRows(
  database: Database,
  { origin, now }: LedgerOptions,
  unservedEpoch: string | undefined,
): void {
  const tip = toTip(database.query(`SELECT ${tipColumns} FROM head`).values()[0]!);
  const at = Math.max(now(), tip.at);
  const end = addRows(database, { ...tip, at }, origin);
  if (end.seq === tip.seq) return;
  if (unservedEpoch !== undefined) beginUnservedEpoch(database, unservedEpoch);
  database
    .query(
      `INSERT INTO inventory (pet_id, quantity, status, version)
       SELECT pet_id, quantity_after, status_after, seq FROM ledger WHERE seq > ?1 ORDER BY seq
       ON CONFLICT (pet_id) DO UPDATE SET quantity = excluded.quantity,
         status = excluded.status, version = excluded.version`,
    )
    .run(tip.seq);
  database.query("UPDATE head SET seq = ?, at = ?, hash = ?").run(end.seq, at, end.hash);
}

const afterImport = {
  quantity: `coalesce(s.quantity, i.quantity, ${newPetStock.quantity})`,
  status: `coalesce(s.status, i.status, '${newPetStock.status}')`,
};

/** The fields of a row's text that differ between rows, without `seq`. A status needs no escapes. */
const stocksText = `s.pet_id || ',' || coalesce(i.quantity || ',"' || i.status || '",', 'null,null,')
  || ${afterImport.quantity} || ',"' || ${afterImport.status} || '"'`;

/**
 * Adds a ledger row for every staged record that creates or changes an entry, and returns the new end
 * of the ledger. SQLite makes the rows and numbers them, and calls a function for each hash: reading
 * and writing a million rows from here would hold the lock for longer.
 */
function addRows(database: Database, { seq, hash, at }: Tip, origin: ImportOrigin): Tip {
  const { actor, reason } = origin;
  const { keyId, requestId } = actor;
  const cause = createRunner(database)(causeOf(origin));
  const source = `${sourceText(cause, keyId, requestId, reason)},${at}]`;
  database.function("next_hash", { directOnly: true }, (stocks: string) => {
    seq += 1;
    hash = hashText(hash, `[${seq},${stocks},${source}`);
    return Uint8Array.fromHex(hash);
  });
  // SQLite reads the staged rows in the order of ids, so it does not sort rows that have a hash.
  const { changes, lastInsertRowid } = database
    .query(
      `INSERT INTO ledger (pet_id, quantity_before, quantity_after, status_before, status_after,
                           previous, cause, key_id, request_id, reason, at, hash)
       SELECT s.pet_id, i.quantity, ${afterImport.quantity}, i.status, ${afterImport.status},
              coalesce(i.version, r.version), ?5, ?1, ?2, ?3, ?4, next_hash(${stocksText})
       FROM staged_pets s LEFT JOIN inventory i USING (pet_id)
         LEFT JOIN removed_pets r USING (pet_id)
       WHERE i.pet_id IS NULL OR ${stockDiffers}
       ORDER BY s.pet_id`,
    )
    .run(keyId, requestId, reason, at, cause);
  if (changes > 0 && Number(lastInsertRowid) !== seq) {
    throw new Error("the ledger does not end at its head; run petstore verify");
  }
  return { seq, hash, at };
}

function countChanged(database: Database): number {
  const [count] = database
    .query(
      `SELECT count(*) FROM staged_pets s JOIN pets p USING (pet_id) JOIN inventory i USING (pet_id)
       WHERE ${petDiffers} OR ${stockDiffers}`,
    )
    .values()[0] as [bigint];
  return Number(count);
}

/** Imports orders, staged in the same way. */
export async function importOrders(
  database: Database,
  records: Batches<OrderRecord>,
  problems: Problems,
  origin: ImportOrigin,
  now: () => number,
): Promise<Imported> {
  const staged = await stageRows(database, orderStaging, records, problems);
  rejectProblems(problems);
  const run = createRunner(database);
  return inTransaction(database, () => {
    const imported = run(applyOrders(staged));
    run(noteImport(dialect, "orders.imported", origin, imported, now()));
    return imported;
  })();
}
