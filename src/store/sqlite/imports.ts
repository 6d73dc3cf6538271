import type { Database } from "bun:sqlite";
import type { Batches, Imported, ImportOrigin } from "../../domain/catalogue/import-preview.ts";
import { type Problems, rejectProblems } from "../../domain/catalogue/import-problems.ts";
import type { OrderRecord } from "../../domain/catalogue/orders.ts";
import { newPetStock, type PetRecord } from "../../domain/catalogue/pets.ts";
import { fieldText, hashText, sourceText } from "../../domain/ledger/chain.ts";
import type { Tip } from "../../domain/ledger/ledger.ts";
import { assignImported, insertStaged, petDiffers } from "../pet-rows.ts";
import { tipColumns, toTip, type Value } from "../rows.ts";
import {
  applyOrders,
  checkStaged,
  noteImport,
  orderStaging,
  petStaging,
  stockDiffers,
} from "../staged-rows.ts";
import { createValueInserter } from "./commit.ts";
import { inTransaction } from "./engine/connection.ts";
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
  const unservedEpoch = readUnservedEpoch(database, options.isServed);
  return inTransaction(database, () => {
    run(checkStaged(petStaging, problems));
    return applyPets(database, staged, options, unservedEpoch);
  })();
}

function applyPets(
  database: Database,
  staged: number,
  options: LedgerOptions,
  unservedEpoch: string | undefined,
): Imported {
  const changed = countChanged(database);
  database.run(
    `UPDATE pets AS p SET ${assignImported}
     FROM staged_pets s WHERE s.pet_id = p.pet_id AND ${petDiffers}`,
  );
  // Existing pets are skipped by the conflict clause, not by a subquery: a statement that reads the
  // table it inserts into has to copy all its rows first.
  const { changes: created } = database.run(`${insertStaged} WHERE true ON CONFLICT DO NOTHING`);
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
  const { seq } = tip;
  const { rows, hash } = addRows(database, { seq, hash: tip.hash, at }, origin);
  if (rows === 0) return;
  if (unservedEpoch !== undefined) beginUnservedEpoch(database, unservedEpoch);
  database
    .query(
      `INSERT INTO inventory (pet_id, quantity, status, version)
       SELECT pet_id, quantity_after, status_after, seq FROM ledger WHERE seq > ?1 ORDER BY seq
       ON CONFLICT (pet_id) DO UPDATE SET quantity = excluded.quantity,
         status = excluded.status, version = excluded.version`,
    )
    .run(seq);
  database.query("UPDATE head SET seq = ?, at = ?, hash = ?").run(seq + rows, at, hash);
}

/** Rows that are hashed and inserted at a time. */
const batchRows = 128;

/** Adds a ledger row for every staged record that creates or changes an entry. */
function addRows(
  database: Database,
  { seq, hash, at }: Tip,
  { actor: { keyId, requestId }, reason }: ImportOrigin,
): { rows: number; hash: string } {
  const changes = database
    .query(
      `SELECT s.pet_id, i.quantity, coalesce(s.quantity, i.quantity, ?1),
              i.status, coalesce(s.status, i.status, ?2), coalesce(i.version, r.version)
       FROM staged_pets s LEFT JOIN inventory i USING (pet_id)
         LEFT JOIN removed_pets r USING (pet_id)
       WHERE i.pet_id IS NULL OR ${stockDiffers}
       ORDER BY s.pet_id`,
    )
    .iterate(newPetStock.quantity, newPetStock.status);
  const insert = createValueInserter(database);
  const origin = `${sourceText("import", keyId, requestId, reason)},${at}`;
  let rows = 0;
  let lastHash = hash;
  let values: Value[] = [];
  for (const change of changes) {
    // Not as objects: a million of them would hold the lock for a second longer.
    const [petId, before, after, statusBefore, statusAfter, previous] = Object.values(
      change as object,
    );
    rows += 1;
    const stocks = `${before},${fieldText(statusBefore)},${after},${fieldText(statusAfter)}`;
    lastHash = hashText(lastHash, `[${seq + rows},${petId},${stocks},${origin}]`);
    values.push(seq + rows, petId, before, after, statusBefore, statusAfter, previous);
    values.push("import", keyId, requestId, reason, at, Buffer.from(lastHash, "hex"));
    if (rows % batchRows === 0) {
      insert(values);
      values = [];
    }
  }
  insert(values);
  return { rows, hash: lastHash };
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
