import { SQLiteError, type SQLQueryBindings, type Statement } from "bun:sqlite";
import type { Environment } from "../../domain/keys/keys.ts";
import { hashText } from "../../domain/ledger/chain.ts";
import { recordBytes, unpackKeys } from "../../domain/ledger/idempotency.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { storedText } from "../../domain/verification/chain.ts";
import type { RowsOf, StoredRow } from "../../domain/verification/store.ts";
import { tipColumns, toStoredKeys, toTip } from "../rows.ts";
import { tables } from "../tables.ts";
import { openForWriting, useConnection } from "./engine/connection.ts";
import { insertInto, rowsFrom, setHeadFromLedger } from "./transfer.ts";

/** Lets a restored store, which nobody uses yet, continue with later rows or end at an earlier one. */

/** The epoch of a restored file covers no row. The next open adds it again, after the last row. */
const withoutOwnEpoch = "DELETE FROM epochs WHERE epoch = (SELECT epoch FROM head)";

/** What the new rows need of the keys that made them, if the other store has it no longer. */
const addLostKeys = (fromSeq: number) => `
  INSERT INTO keys SELECT key_id, 'Key (lost)', 'free', 1, 1, 'inventory:read', min(at), NULL, min(at)
    FROM ledger WHERE seq > ${fromSeq} AND key_id > '' AND key_id NOT IN (SELECT id FROM keys) GROUP BY 1;
  INSERT INTO secrets SELECT lower(hex(randomblob(32))), id, created_at, NULL FROM keys
    WHERE id NOT IN (SELECT key_id FROM secrets)`;

/**
 * Adds the rows of a later ledger that continue this one: each must have the hash of its content and of
 * the row before it. With them comes what they need: pets, idempotency keys of their requests, the keys
 * that made them, epochs. What the store has already stays as it is. Returns why a row was not added.
 */
export function addLaterRows(
  path: string,
  environment: Environment,
  name: string,
  rowsOf: RowsOf,
): Promise<string | undefined> {
  return useConnection(openForWriting({ path, environment }, 0), async (database) => {
    database.run(`BEGIN IMMEDIATE; PRAGMA defer_foreign_keys = ON; ${withoutOwnEpoch}`);
    const start = toTip(database.query(`SELECT ${tipColumns} FROM head`).values()[0]!);
    const known = new Set<unknown>(database.query("SELECT id FROM keys").values().flat());
    const newKeys = new Set<unknown>();
    /** The ids of pets, imports and undos, by which the idempotency keys of their requests are found. */
    const madeIds = new Set<unknown>();
    let { seq, hash } = start;
    let isJoined = seq === 0;
    let problem: string | undefined;

    function continues(row: StoredRow): boolean {
      const own = row[12] instanceof Uint8Array && Buffer.from(row[12]).toString("hex");
      if (Number(row[0]) === start.seq) isJoined = own === start.hash;
      // Reads on after a problem, because PostgreSQL closes the cursor only at the end.
      if (Number(row[0]) <= start.seq || problem !== undefined) return false;
      // No hash covers the link to the pet's previous row.
      const isLinked = row[6] === null || Number(row[6]) < Number(row[0]);
      const isNext = isLinked && own === hashText(hash, storedText(row));
      if (!isNext) problem = `row ${seq + 1} of ${name} is missing or does not continue row ${seq}`;
      else if (!known.has(row[8])) newKeys.add(row[8]);
      if (isNext) [seq, hash] = [seq + 1, own];
      if (isNext && row[7] !== "api") madeIds.add(row[9]).add(`${row[1]}`);
      return isNext;
    }

    const wanted: Record<string, (row: StoredRow) => boolean> = {
      pets: () => true,
      ledger: continues,
      remembered_keys: (row) => Number(row[0]) > start.seq,
      keys: ([id]) => newKeys.has(id),
      secrets: ([, id]) => newKeys.has(id),
      epochs: ([, , from]) => Number(from) >= start.seq,
      made: ([, , id]) => id !== null && (madeIds.has(id) || newKeys.has(id)),
    };
    for (const table of tables.filter((one) => one.name in wanted)) {
      const barcodeAt = table.columns.split(", ").indexOf("barcode");
      const insert = database.query(insertInto(table));
      for await (const batch of rowsOf(table.name, start.seq)) {
        const rows = batch.filter(wanted[table.name]!) as SQLQueryBindings[][];
        for (const row of rows) addIfPossible(insert, row);
        // Without its barcode, if another pet of the backup has that.
        for (const row of rows)
          if (row[barcodeAt]) addIfPossible(insert, row.with(barcodeAt, null));
      }
    }
    const lacking = `${name} does not have the last row of the backup, ${start.seq}:${start.hash}`;
    if (!isJoined) throw new ServiceError("invalid_request", `${lacking}; it may be an older one`);
    database.run(`${addLostKeys(start.seq)}; ${setHeadFromLedger}; COMMIT`);
    return problem;
  });
}

/** Leaves out a row that the table cannot have: it has the row already, or a damaged file lost its values. */
function addIfPossible(insert: Statement, row: SQLQueryBindings[]): void {
  try {
    insert.run(...row);
  } catch (error) {
    const constraint = 19;
    if (!(error instanceof SQLiteError && (error.errno & 0xff) === constraint)) throw error;
  }
}

/** The store as of row `seq`, as tables and views that hide those of the file. */
const asOfRow = (seq: number) => `
  CREATE TEMP VIEW ledger AS SELECT * FROM main.ledger WHERE seq <= ${seq};
  CREATE TEMP VIEW remembered_keys AS SELECT * FROM main.remembered_keys AS kept
    WHERE at IS (SELECT at FROM ledger WHERE ledger.seq = kept.seq);
  CREATE TEMP VIEW made AS SELECT * FROM main.made WHERE id IS NULL OR id NOT IN (
    SELECT request_id FROM main.ledger WHERE seq > ${seq} AND request_id > '' UNION
    SELECT CAST(pet_id AS TEXT) FROM main.ledger WHERE seq > ${seq} AND quantity_before IS NULL);
  CREATE TEMP VIEW epochs AS SELECT * FROM main.epochs
    WHERE from_seq <= ${seq} AND epoch <> (SELECT epoch FROM head);
  CREATE TEMP TABLE webhooks AS SELECT * FROM main.webhooks;
  UPDATE webhooks SET cursor_seq = ${seq}, cursor_epoch = coalesce((SELECT epoch FROM epochs
    WHERE from_seq < ${seq} ORDER BY number DESC LIMIT 1), cursor_epoch) WHERE cursor_seq > ${seq};
  CREATE TEMP TABLE inventory AS
    SELECT pet_id, quantity_after AS quantity, status_after AS status, max(seq) AS version
    FROM ledger GROUP BY pet_id HAVING quantity_after IS NOT NULL;
  CREATE TEMP VIEW pets AS SELECT * FROM main.pets WHERE pet_id IN (SELECT pet_id FROM inventory);
  CREATE TEMP VIEW removed_pets AS
    SELECT pet_id, max(seq) AS version FROM ledger WHERE quantity_after IS NULL GROUP BY pet_id`;

/** A pet that was removed before the backup was made, or whose table could not be read. */
const addNamelessPets = `INSERT INTO main.pets (pet_id, name, tags, photo_urls)
  SELECT pet_id, 'Pet ' || pet_id || ' (name lost)', '[]', '[]' FROM inventory
  WHERE pet_id NOT IN (SELECT pet_id FROM main.pets) RETURNING 1`;

/**
 * Passes on the rows of a store as row `seq` left it: its ledger ends there. Stock, removals, remembered
 * keys and epochs are as they were, everything else is as it is. A request that made a pet, an import or an
 * undo that is gone may be sent again. Returns the number of pets whose name is lost.
 */
export function readAsOf(
  path: string,
  environment: Environment,
  seq: number,
  work: (rowsOf: RowsOf) => Promise<void>,
): Promise<number> {
  return useConnection(openForWriting({ path, environment }, 0), async (database) => {
    database.run(asOfRow(seq));
    const nameless = database.query(addNamelessPets).values().length;
    const rowsOf = rowsFrom(database);
    await work((table) =>
      table === "remembered_keys" ? wholeRequests(rowsOf(table), seq) : rowsOf(table),
    );
    return nameless;
  });
}

/** Leaves out the keys of requests of which some rows are gone: they may be sent again. */
async function* wholeRequests(batches: ReturnType<RowsOf>, lastSeq: number) {
  for await (const batch of batches) {
    yield batch.flatMap((row) => {
      const isWhole = ({ firstSeq = 0, rows = 0 }) => firstSeq + rows - 1 <= lastSeq;
      const kept = unpackKeys(toStoredKeys(row)).filter(isWhole).length * recordBytes;
      const records = (row[2] as Uint8Array).subarray(0, kept);
      return kept === 0 ? [] : [row.with(2, records)];
    });
  }
}
