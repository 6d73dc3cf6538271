import { SQLiteError, type SQLQueryBindings, type Statement } from "bun:sqlite";
import type { Environment } from "../../domain/keys/keys.ts";
import { hashText } from "../../domain/ledger/chain.ts";
import { recordBytes, unpackKeys } from "../../domain/ledger/idempotency.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { storedText } from "../../domain/verification/chain.ts";
import type { RowsOf, StoredRow } from "../../domain/verification/store.ts";
import { rememberedColumns, tipColumns, toStoredKeys, toTip } from "../rows.ts";
import { tables } from "../tables.ts";
import { openForWriting, useConnection } from "./engine/connection.ts";
import { insertInto, setHeadFromLedger } from "./transfer.ts";

/** Lets a restored store, which nobody uses yet, end at another row of its history. */

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
 * the row before it. With them comes what they need: pets, remembered idempotency keys, the keys that
 * made them, epochs. What the store has already stays as it is. Returns why a row was not added.
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
    let { seq, hash } = start;
    let isJoined = seq === 0;
    let problem: string | undefined;

    function continues(row: StoredRow): boolean {
      const own = row[12] instanceof Uint8Array && Buffer.from(row[12]).toString("hex");
      if (Number(row[0]) === start.seq) isJoined = own === start.hash;
      // To the end in any case: a database closes its cursor only there.
      if (Number(row[0]) <= start.seq || problem !== undefined) return false;
      const isNext = own === hashText(hash, storedText(row));
      if (!isNext) problem = `row ${seq + 1} of ${name} is missing or does not continue row ${seq}`;
      else if (!known.has(row[8])) newKeys.add(row[8]);
      if (isNext) [seq, hash] = [seq + 1, own];
      return isNext;
    }

    const wanted: Record<string, (row: StoredRow) => boolean> = {
      pets: () => true,
      ledger: continues,
      remembered_keys: (row) => Number(row[0]) > start.seq,
      keys: ([id]) => newKeys.has(id),
      secrets: ([, id]) => newKeys.has(id),
      epochs: ([, , from]) => Number(from) >= start.seq,
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

/** Removes the rows after `seq`, and makes everything that follows from the ledger again. */
const afterRow = (seq: number) => `
  DROP TRIGGER ledger_rows_remain;
  DELETE FROM ledger WHERE seq > ${seq};
  DELETE FROM remembered_keys WHERE at IS NOT (SELECT at FROM ledger WHERE seq = remembered_keys.seq);
  DELETE FROM epochs WHERE from_seq > ${seq};
  ${withoutOwnEpoch};
  UPDATE webhooks SET cursor_seq = ${seq}, cursor_epoch = coalesce((SELECT epoch FROM epochs
    WHERE from_seq < ${seq} ORDER BY number DESC LIMIT 1), cursor_epoch) WHERE cursor_seq > ${seq};
  CREATE TEMP TABLE stock AS SELECT pet_id, quantity_after, status_after, max(seq) FROM ledger
    GROUP BY pet_id HAVING quantity_after IS NOT NULL;
  DELETE FROM inventory;
  DELETE FROM pets WHERE pet_id NOT IN (SELECT pet_id FROM stock);
  DELETE FROM removed_pets;
  INSERT INTO removed_pets (pet_id, version)
    SELECT pet_id, max(seq) FROM ledger WHERE quantity_after IS NULL GROUP BY pet_id`;

/** A pet that was removed before the backup was made, or whose table could not be read. */
const addNamelessPets = `INSERT INTO pets (pet_id, name, tags, photo_urls)
  SELECT pet_id, 'Pet ' || pet_id || ' (name lost)', '[]', '[]' FROM stock
  WHERE pet_id NOT IN (SELECT pet_id FROM pets) RETURNING 1`;

/**
 * Lets the ledger end at row `seq`. Stock, removals, remembered keys and epochs are then as they were,
 * everything else stays as it is. Returns the number of pets whose name is lost.
 */
export function endAt(path: string, environment: Environment, seq: number): Promise<number> {
  return useConnection(openForWriting({ path, environment }, 0), async (database) => {
    const first = (sql: string) => database.query(sql).values()[0];
    const [trigger] = first("SELECT sql FROM sqlite_schema WHERE name = 'ledger_rows_remain'")!;
    database.run(`BEGIN IMMEDIATE; ${afterRow(seq)}; ${trigger}`);
    const nameless = database.query(addNamelessPets).values().length;
    database.run("INSERT INTO inventory (pet_id, quantity, status, version) SELECT * FROM stock");
    // The last commit may have keys of requests that are no longer whole. They may be sent again.
    const last = first(`SELECT ${rememberedColumns} FROM remembered_keys ORDER BY 1 DESC LIMIT 1`);
    const isWhole = ({ firstSeq = 0, rows = 0 }) => firstSeq + rows - 1 <= seq;
    const whole = last ? unpackKeys(toStoredKeys(last)).filter(isWhole).length : 0;
    const cut = `UPDATE remembered_keys SET records = substr(records, 1, ${whole * recordBytes})`;
    database.run(`${whole === 0 ? "DELETE FROM remembered_keys" : cut}
      WHERE seq = (SELECT max(seq) FROM remembered_keys); ${setHeadFromLedger}; COMMIT`);
    return nameless;
  });
}
