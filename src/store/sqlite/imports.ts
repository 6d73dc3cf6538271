import type { Database } from "bun:sqlite";
import type { Imported, ImportOrigin } from "../../domain/catalogue/import-preview.ts";
import {
  createProblems,
  type Problem,
  RejectedImport,
} from "../../domain/catalogue/import-problems.ts";
import { newPetStock } from "../../domain/catalogue/pets.ts";
import { hashText, sourceText } from "../../domain/ledger/chain.ts";
import type { Tip } from "../../domain/ledger/ledger.ts";
import { assignImported, freeReplaced, insertStaged, petDiffers } from "../pet-rows.ts";
import { tipColumns, toTip } from "../rows.ts";
import * as stagedRows from "../staged-rows.ts";
import type { LedgerWriter } from "./commit.ts";
import { setPragma } from "./engine/connection.ts";
import { createRunner, dialect } from "./engine/scripts.ts";
import { withStageFile } from "./engine/stage-files.ts";
import { beginUnservedEpoch } from "./epochs.ts";

/** An import whose rows are staged in a file. */
export interface StagedImport {
  readonly what: "pets" | "orders";
  readonly file: string;
  /** The number of rows. */
  readonly staged: number;
  readonly origin: ImportOrigin;
  readonly now: number;
}

/** What was imported, or the problems that only the store shows, of which `count` exist. */
export type Applied = Imported | { readonly problems: readonly Problem[]; readonly count: number };

/**
 * Applies staged rows in one transaction of a few statements over all of them. A million rows hold the
 * write lock for seconds, not minutes.
 */
export function createImportWriter(
  database: Database,
  { transact }: Pick<LedgerWriter, "transact">,
) {
  const run = createRunner(database);

  function apply(given: StagedImport, unservedEpoch: string | undefined): Imported {
    const { what, staged, origin, now } = given;
    const isPets = what === "pets";
    const imported = isPets
      ? applyPets(database, given, unservedEpoch)
      : run(stagedRows.applyOrders(staged));
    run(stagedRows.noteImport(dialect, `${what}.imported`, origin, imported, now));
    return imported;
  }

  return {
    applyImport: (given: StagedImport): Applied =>
      withStageFile(database, given.file, () =>
        withoutConstraints(database, () => {
          try {
            return transact(given.now, (_, unservedEpoch) => apply(given, unservedEpoch));
          } catch (error) {
            if (!(error instanceof RejectedImport)) throw error;
            return { problems: error.problems.list(), count: error.problems.count() };
          }
        }),
      ),
  };
}

/** For a million rows, the constraints of the tables would take more than a second of the lock. */
function withoutConstraints<T>(database: Database, work: () => T): T {
  const names = ["ignore_check_constraints", "foreign_keys"];
  const before = names.map((name) => database.query(`PRAGMA ${name}`).values()[0]![0] as bigint);
  try {
    setPragma(database, "ignore_check_constraints", 1n);
    setPragma(database, "foreign_keys", 0n);
    return work();
  } finally {
    for (const [at, name] of names.entries()) setPragma(database, name, before[at]!);
  }
}

function applyPets(
  database: Database,
  { staged, origin, now }: StagedImport,
  unservedEpoch: string | undefined,
): Imported {
  const run = createRunner(database);
  run(stagedRows.causeOf(origin));
  run(stagedRows.checkStaged(stagedRows.petStaging, createProblems()));
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
  appendRows(database, origin, now, unservedEpoch);
  return { created, changed, unchanged: staged - created - changed };
}

/** Appends a ledger row for every entry that is created or changed, and updates the entries. */
function appendRows(
  database: Database,
  origin: ImportOrigin,
  now: number,
  unservedEpoch: string | undefined,
): void {
  const tip = toTip(database.query(`SELECT ${tipColumns} FROM head`).values()[0]!);
  const at = Math.max(now, tip.at);
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
  const cause = createRunner(database)(stagedRows.causeOf(origin));
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
       WHERE i.pet_id IS NULL OR ${stagedRows.stockDiffers}
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
       WHERE ${petDiffers} OR ${stagedRows.stockDiffers}`,
    )
    .values()[0] as [bigint];
  return Number(count);
}
