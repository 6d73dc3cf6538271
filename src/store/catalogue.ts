import type { Order, OrderStatus } from "../domain/catalogue/orders.ts";
import type { NamedEntry } from "../domain/catalogue/pets.ts";
import type { CatalogueReader } from "../domain/catalogue/store.ts";
import type { PetStatus } from "../domain/ledger/inventory.ts";
import { int64Max, int64Min } from "../domain/values/int64.ts";
import { petColumns, toPet } from "./pet-rows.ts";
import { orderColumns, petNameColumns, type Row, toNumber, toPetName } from "./rows.ts";
import { readAll, readPage, type ScriptsOf } from "./statements.ts";

const namedEntryColumns = `${petNameColumns}, quantity, status, version`;

function toNamedEntry(row: Row): NamedEntry {
  const [quantity, status, version] = [Number(row[5]), row[6] as PetStatus, Number(row[7])];
  return { ...toPetName(row), quantity, status, version };
}

function toOrder(row: Row): Order {
  return {
    id: row[0] as bigint,
    petId: row[1] as bigint,
    quantity: Number(row[2]),
    shipDate: toNumber(row[3]),
    status: row[4] as OrderStatus,
    complete: Number(row[5]) === 1,
  };
}

/** Both tables have the condition: PostgreSQL would read the second one from its beginning. */
const petsFrom = (columns: string) => `SELECT ${columns} FROM pets JOIN inventory USING (pet_id)
  WHERE pets.pet_id >= $1 AND inventory.pet_id >= $1 ORDER BY pet_id LIMIT $2`;

/** Pages of many rows. */
export const petReads: ScriptsOf<CatalogueReader, "petsAfter" | "namedEntriesAfter"> = {
  petsAfter: (petId, rowsMax) => readPage(toPet, petsFrom(petColumns), petId, [rowsMax]),
  namedEntriesAfter: (petId, rowsMax) =>
    readPage(toNamedEntry, petsFrom(namedEntryColumns), petId, [rowsMax]),
};

export const orderReads: ScriptsOf<CatalogueReader, "listOrders"> = {
  *listOrders({ after, limit }) {
    if (after === int64Min) return [];
    const text = `SELECT ${orderColumns} FROM orders WHERE id <= $1 ORDER BY id DESC LIMIT $2`;
    return yield* readAll(toOrder, text, [after === null ? int64Max : after - 1n, limit]);
  },
};
