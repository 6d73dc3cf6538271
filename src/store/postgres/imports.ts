import type { Batches, Imported, ImportOrigin } from "../../domain/catalogue/import-preview.ts";
import { type Problems, rejectProblems } from "../../domain/catalogue/import-problems.ts";
import type { OrderRecord } from "../../domain/catalogue/orders.ts";
import { newPetStock, type PetRecord } from "../../domain/catalogue/pets.ts";
import type { Cause, Tip } from "../../domain/ledger/ledger.ts";
import { assignImported, freeReplaced, insertStaged, petDiffers } from "../pet-rows.ts";
import { entryColumns, storedLedgerColumns } from "../rows.ts";
import * as stagedRows from "../staged-rows.ts";
import { nowMs } from "./engine/clock.ts";
import { moveTip, takeHead } from "./engine/head-lock.ts";
import { dialect, runScript } from "./engine/scripts.ts";
import type { Session } from "./engine/session.ts";
import { commitTransaction } from "./engine/transaction.ts";
import type { Epochs } from "./epochs.ts";
import { stageRows } from "./staging.ts";

/**
 * Imports pets in one transaction on one connection, which a pooler cannot split. Rows are staged in
 * a temporary table, which blocks no other transaction, and then applied by a few statements over
 * all of them. The catalogue is written before the head is locked, so updates wait only while the
 * stock is written.
 */
export async function importPets(
  session: Session,
  epochs: Epochs,
  records: Batches<PetRecord>,
  problems: Problems,
  origin: ImportOrigin,
  now: number | null,
): Promise<Imported> {
  const { sql, query } = session;
  const staged = await stageRows(session, stagedRows.petStaging, records, problems);
  await query(dialect.lockCatalogue);
  // For pets that were removed. The others can still change until the head is locked.
  await runScript(query, stagedRows.causeOf(origin));
  await runScript(query, stagedRows.checkStaged(stagedRows.petStaging, problems));
  await applyCatalogue(session);
  const { timeline, ...tip } = await takeHead(session, now);
  const { seq } = tip;
  const cause = await runScript(query, stagedRows.causeOf(origin));
  const rows = await applyStock(session, { ...origin, cause }, tip);
  if (rows > 0) await epochs.record(query, timeline, seq);
  const [counts] = await query(
    `SELECT (SELECT count(*) FROM ledger WHERE seq > $1::int8 AND quantity_before IS NULL),
            (SELECT count(*) FROM (SELECT pet_id FROM changed_pets UNION
               SELECT pet_id FROM ledger WHERE seq > $1::int8 AND quantity_before IS NOT NULL) AS changed)`,
    [seq],
  );
  const [created, changed] = counts!.map(Number) as [number, number];
  const imported = { created, changed, unchanged: staged - created - changed };
  await runScript(query, stagedRows.noteImport(dialect, "pets.imported", origin, imported, tip.at));
  await commitTransaction(sql);
  session.confirm(timeline);
  return imported;
}

/** The lock is held, so no other transaction adds or removes a pet in the meantime. */
async function applyCatalogue({ sql }: Session): Promise<void> {
  await sql.unsafe(
    `CREATE TEMP TABLE changed_pets ON COMMIT DROP AS
       SELECT s.* FROM staged_pets s JOIN pets p USING (pet_id)
       WHERE ${petDiffers};
     ${freeReplaced};
     UPDATE pets AS p SET ${assignImported} FROM changed_pets s WHERE p.pet_id = s.pet_id;
     ${insertStaged} WHERE NOT EXISTS (SELECT FROM pets p WHERE p.pet_id = s.pet_id)
       ORDER BY pet_id`,
  );
}

/**
 * Adds ledger rows and returns their number and the last hash. The hash of a row needs the hash of
 * the row before it, so the aggregate runs as a window function over the rows in order. $6 is the
 * hash before the first of them.
 */
const addRows = `
  WITH fresh AS (
    SELECT $1::int8 + row_number() OVER (ORDER BY s.pet_id) AS seq, s.pet_id,
           i.quantity AS quantity_before, coalesce(s.quantity, i.quantity, $2::int8) AS quantity_after,
           i.status AS status_before, coalesce(s.status, i.status, $3::text) AS status_after,
           coalesce(i.version, r.version) AS previous
    FROM staged_pets s LEFT JOIN inventory i USING (pet_id)
      LEFT JOIN removed_pets r USING (pet_id)
    WHERE i.pet_id IS NULL OR ${stagedRows.stockDiffers}),
  added AS (
    INSERT INTO ledger (${storedLedgerColumns})
    SELECT seq, pet_id, quantity_before, quantity_after, status_before, status_after, previous,
           $9::text, $7::text, $8::text, $4::text, $5::int8,
           decode(petstore_chain($6::text, petstore_row_text(
             seq, pet_id, quantity_before, status_before, quantity_after, status_after, $9::text,
             $7::text, $8::text, $4::text, $5::int8)) OVER (ORDER BY seq), 'hex')
    FROM fresh ORDER BY seq
    RETURNING seq, hash)
  SELECT count(*), encode((SELECT hash FROM added ORDER BY seq DESC LIMIT 1), 'hex') FROM added`;

/** Adds ledger rows for new and changed stock, and returns how many. */
async function applyStock(
  { query }: Session,
  { actor, reason, cause }: ImportOrigin & { readonly cause: Cause },
  { seq, at, hash }: Tip,
): Promise<number> {
  const [added] = await query(addRows, [
    seq,
    newPetStock.quantity,
    newPetStock.status,
    reason,
    at,
    hash,
    actor.keyId,
    actor.requestId,
    cause,
  ]);
  const [rows, lastHash] = [Number(added![0]), added![1]];
  if (rows === 0) return 0;
  await query(
    `UPDATE inventory SET quantity = quantity_after, status = status_after, version = seq
     FROM ledger WHERE seq > $1::int8 AND quantity_before IS NOT NULL AND ledger.pet_id = inventory.pet_id`,
    [seq],
  );
  await query(
    `INSERT INTO inventory (${entryColumns})
     SELECT pet_id, quantity_after, status_after, seq FROM ledger
     WHERE seq > $1::int8 AND quantity_before IS NULL ORDER BY pet_id`,
    [seq],
  );
  await query(moveTip, [seq, seq + rows, at, lastHash]);
  return rows;
}

/** Imports orders in one transaction, staged like pets. */
export async function importOrders(
  session: Session,
  records: Batches<OrderRecord>,
  problems: Problems,
  origin: ImportOrigin,
  now: number | null,
): Promise<Imported> {
  const { sql, query } = session;
  const staged = await stageRows(session, stagedRows.orderStaging, records, problems);
  rejectProblems(problems);
  // One import of orders at a time: two that overlap could deadlock.
  await sql.unsafe("LOCK TABLE orders IN SHARE ROW EXCLUSIVE MODE");
  const imported = await runScript(query, stagedRows.applyOrders(staged));
  const [[at] = []] = await query(`SELECT ${nowMs}`, [now]);
  await runScript(
    query,
    stagedRows.noteImport(dialect, "orders.imported", origin, imported, Number(at)),
  );
  await commitTransaction(sql);
  return imported;
}
