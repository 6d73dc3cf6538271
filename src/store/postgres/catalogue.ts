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
import { integerArray } from "./engine/arrays.ts";
import type { Query } from "./engine/session.ts";

const petsFrom = `SELECT ${petColumns} FROM pets JOIN inventory USING (pet_id)
  WHERE pet_id >= $1 ORDER BY pet_id LIMIT $2`;
const entriesFrom = `SELECT ${namedEntryColumns} FROM pets JOIN inventory USING (pet_id)
  WHERE pet_id >= $1 ORDER BY pet_id LIMIT $2`;
const petById = `SELECT ${petColumns} FROM pets, petstore_stock(pet_id) WHERE pet_id = $1`;
const namesById = `SELECT ${petNameColumns} FROM pets WHERE pet_id = ANY ($1::int8[])
  ORDER BY pet_id`;
const ordersFrom = `SELECT ${orderColumns} FROM orders WHERE id <= $1 ORDER BY id DESC LIMIT $2`;

/** Reads pets and orders. Requests wait for `quick`; `long` reads pages of many rows. */
export function createCatalogueReader(quick: Query, long: Query): CatalogueReader {
  return {
    petsAfter: async (petId, rowsMax) =>
      petId === int64Max ? [] : (await long(petsFrom, [firstIdAfter(petId), rowsMax])).map(toPet),
    namedEntriesAfter: async (petId, rowsMax) =>
      petId === int64Max
        ? []
        : (await long(entriesFrom, [firstIdAfter(petId), rowsMax])).map(toNamedEntry),
    async findPet(petId) {
      const [row] = await quick(petById, [petId]);
      return row && toPet(row);
    },
    namesOf: async (petIds) => (await quick(namesById, [integerArray(petIds)])).map(toPetName),
    async listOrders({ after, limit }) {
      if (after === int64Min) return [];
      return (await quick(ordersFrom, [after === null ? int64Max : after - 1n, limit])).map(
        toOrder,
      );
    },
  };
}
