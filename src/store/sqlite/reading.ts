import type { Database } from "bun:sqlite";
import { int64Max, int64Min } from "../../domain/integers.ts";
import type { Entry, PetStatus, Stock } from "../../domain/inventory.ts";
import type { Cause, LedgerRow } from "../../domain/ledger.ts";
import type { Order, OrderStatus } from "../../domain/orders.ts";
import type { Pet } from "../../domain/pets.ts";
import type { Head, Reader } from "../../domain/ports.ts";

type Row = readonly unknown[];

/** The reading half of the store on one connection. Everything answers at once. */
export interface SqliteReader extends Reader {
  look(): Head;
  entriesAfter(petId: bigint | null, rowsMax: number): readonly Entry[];
}

export function createReader(database: Database): SqliteReader {
  const head = database.query("SELECT epoch, seq, keys_version FROM head");
  const ledger = database.query(
    `SELECT seq, pet_id, quantity_before, quantity_after, status_before, status_after, previous,
            cause, key_id, request_id, reason, at
     FROM ledger WHERE seq > ? ORDER BY seq LIMIT ?`,
  );
  const entries = database.query(
    "SELECT pet_id, quantity, status, version FROM inventory WHERE pet_id >= ? ORDER BY pet_id LIMIT ?",
  );
  const petColumns = `pet_id, name, category, tags, photo_urls, status, quantity
     FROM pets JOIN inventory USING (pet_id)`;
  const pets = database.query(`SELECT ${petColumns} WHERE pet_id >= ? ORDER BY pet_id LIMIT ?`);
  const pet = database.query(`SELECT ${petColumns} WHERE pet_id = ?`);
  const orders = database.query(
    `SELECT id, pet_id, quantity, ship_date, status, complete
     FROM orders WHERE id <= ? ORDER BY id DESC LIMIT ?`,
  );

  return {
    look() {
      const [epoch, seq, keysVersion] = head.values()[0] as Row;
      return { epoch: epoch as string, seq: Number(seq), keysVersion: Number(keysVersion) };
    },
    ledgerAfter: (seq, rowsMax) => ledger.values(seq, rowsMax).map(toLedgerRow),
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

function toEntry(row: Row): Entry {
  return {
    petId: row[0] as bigint,
    quantity: Number(row[1]),
    status: row[2] as PetStatus,
    version: Number(row[3]),
  };
}

function toLedgerRow(row: Row): LedgerRow {
  return {
    seq: Number(row[0]),
    petId: row[1] as bigint,
    before: toStock(row[2], row[4]),
    after: toStock(row[3], row[5]),
    previous: row[6] === null ? null : Number(row[6]),
    cause: row[7] as Cause,
    keyId: row[8] as string | null,
    requestId: row[9] as string | null,
    reason: row[10] as string | null,
    at: Number(row[11]),
  };
}

function toStock(quantity: unknown, status: unknown): Stock | null {
  return quantity === null ? null : { quantity: Number(quantity), status: status as PetStatus };
}

function toPet(row: Row): Pet {
  return {
    petId: row[0] as bigint,
    name: row[1] as string,
    category: row[2] as string | null,
    tags: JSON.parse(row[3] as string) as string[],
    photoUrls: JSON.parse(row[4] as string) as string[],
    status: row[5] as PetStatus,
    quantity: Number(row[6]),
  };
}

function toOrder(row: Row): Order {
  return {
    id: row[0] as bigint,
    petId: row[1] as bigint,
    quantity: Number(row[2]),
    shipDate: row[3] === null ? null : Number(row[3]),
    status: row[4] as OrderStatus,
    complete: row[5] === 1n,
  };
}
