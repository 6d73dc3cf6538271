import type { CatalogueReader } from "../../domain/catalogue/store.ts";
import { orderReads, petReads } from "../catalogue.ts";
import { petColumns, toPet } from "../pet-rows.ts";
import { petNameColumns, toPetName } from "../rows.ts";
import { integerArray } from "./engine/arrays.ts";
import { scriptsOn } from "./engine/scripts.ts";
import type { Query } from "./engine/session.ts";

const petById = `SELECT ${petColumns} FROM pets, petstore_stock(pet_id) WHERE pet_id = $1`;
const namesById = `SELECT ${petNameColumns} FROM pets WHERE pet_id = ANY ($1::int8[])
  ORDER BY pet_id`;

/** Reads pets and orders. Requests wait for `quick`; `long` reads pages of many rows. */
export function createCatalogueReader(quick: Query, long: Query): CatalogueReader {
  return {
    ...scriptsOn(long, petReads),
    ...scriptsOn(quick, orderReads),
    findPet: async (petId) => (await quick(petById, [petId])).map(toPet)[0],
    namesOf: async (petIds) => (await quick(namesById, [integerArray(petIds)])).map(toPetName),
  };
}
