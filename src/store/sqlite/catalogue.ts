import type { Database } from "bun:sqlite";
import type { CatalogueReader } from "../../domain/catalogue/store.ts";
import { int64Max, int64Min } from "../../domain/values/int64.ts";
import { petColumns, toPet } from "../pet-rows.ts";
import {
  firstIdAfter,
  namedEntryColumns,
  orderColumns,
  petNameColumns,
  toNamedEntry,
  toOrder,
  toPetName,
} from "../rows.ts";

/** Reads pets and orders. Every method returns a value, not a promise. */
export function createCatalogueReader(database: Database): CatalogueReader {
  const pets = database.query(
    `SELECT ${petColumns} FROM pets JOIN inventory USING (pet_id)
     WHERE pet_id >= ? ORDER BY pet_id LIMIT ?`,
  );
  const pet = database.query(
    `SELECT ${petColumns} FROM pets JOIN inventory USING (pet_id) WHERE pet_id = ?`,
  );
  const entries = database.query(
    `SELECT ${namedEntryColumns} FROM pets JOIN inventory USING (pet_id)
     WHERE pet_id >= ? ORDER BY pet_id LIMIT ?`,
  );
  const name = database.query(`SELECT ${petNameColumns} FROM pets WHERE pet_id = ?`);
  const orders = database.query(
    `SELECT ${orderColumns} FROM orders WHERE id <= ? ORDER BY id DESC LIMIT ?`,
  );

  return {
    petsAfter: (petId, rowsMax) =>
      petId === int64Max ? [] : pets.values(firstIdAfter(petId), rowsMax).map(toPet),
    namedEntriesAfter: (petId, rowsMax) =>
      petId === int64Max ? [] : entries.values(firstIdAfter(petId), rowsMax).map(toNamedEntry),
    findPet(petId) {
      const row = pet.values(petId)[0];
      return row && toPet(row);
    },
    namesOf: (petIds) =>
      [...new Set(petIds)]
        .sort((a, b) => (a < b ? -1 : 1))
        .flatMap((petId) => name.values(petId).map(toPetName)),
    listOrders: ({ after, limit }) =>
      after === int64Min
        ? []
        : orders.values(after === null ? int64Max : after - 1n, limit).map(toOrder),
  };
}
