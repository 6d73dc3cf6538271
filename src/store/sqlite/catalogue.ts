import type { Database } from "bun:sqlite";
import type { Entry } from "../../domain/inventory.ts";
import type { Head, Reader } from "../../domain/ports.ts";
import { int64Max, int64Min } from "../../domain/values/int64.ts";
import {
  entryColumns,
  ledgerColumns,
  orderColumns,
  petColumns,
  type Row,
  stockColumns,
  toEntry,
  toLedgerRow,
  toOrder,
  toPet,
  toStockRow,
} from "../rows.ts";

/** The reading half of the store on one connection. Everything answers at once. */
export interface SqliteReader extends Reader {
  look(): Head;
  entriesAfter(petId: bigint | null, rowsMax: number): readonly Entry[];
}

export function createReader(database: Database): SqliteReader {
  const head = database.query("SELECT epoch, seq, keys_version FROM head");
  const ledger = database.query(
    `SELECT ${ledgerColumns} FROM ledger WHERE seq > ? ORDER BY seq LIMIT ?`,
  );
  const stock = database.query(
    `SELECT ${stockColumns} FROM ledger WHERE seq > ? ORDER BY seq LIMIT ?`,
  );
  const entries = database.query(
    `SELECT ${entryColumns} FROM inventory WHERE pet_id >= ? ORDER BY pet_id LIMIT ?`,
  );
  const pets = database.query(
    `SELECT ${petColumns} FROM pets JOIN inventory USING (pet_id)
     WHERE pet_id >= ? ORDER BY pet_id LIMIT ?`,
  );
  const pet = database.query(
    `SELECT ${petColumns} FROM pets JOIN inventory USING (pet_id) WHERE pet_id = ?`,
  );
  const orders = database.query(
    `SELECT ${orderColumns} FROM orders WHERE id <= ? ORDER BY id DESC LIMIT ?`,
  );

  return {
    look() {
      const [epoch, seq, keysVersion] = head.values()[0] as Row;
      return { epoch: epoch as string, seq: Number(seq), keysVersion: Number(keysVersion) };
    },
    ledgerAfter: (seq, rowsMax) => ledger.values(seq, rowsMax).map(toLedgerRow),
    stockAfter: (seq, rowsMax) => stock.values(seq, rowsMax).map(toStockRow),
    entriesAfter: (petId, rowsMax) =>
      petId === int64Max ? [] : entries.values(following(petId), rowsMax).map(toEntry),
    petsAfter: (petId, rowsMax) =>
      petId === int64Max ? [] : pets.values(following(petId), rowsMax).map(toPet),
    findPet(petId) {
      const row = pet.values(petId)[0];
      return row && toPet(row);
    },
    listOrders: ({ after, limit }) =>
      after === int64Min
        ? []
        : orders.values(after === null ? int64Max : after - 1n, limit).map(toOrder),
  };
}

/** The smallest id after this one; pages start there, so that the very first id is not missed. */
function following(petId: bigint | null): bigint {
  return petId === null ? int64Min : petId + 1n;
}
