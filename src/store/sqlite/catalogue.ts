import type { Database } from "bun:sqlite";
import type { CatalogueReader } from "../../domain/catalogue/store.ts";
import { orderReads, petReads } from "../catalogue.ts";
import { petColumns, toPet } from "../pet-rows.ts";
import { petNameColumns, toPetName } from "../rows.ts";
import { scriptsOn } from "./engine/scripts.ts";

/** Reads pets and orders. Every method returns a value, not a promise. */
export function createCatalogueReader(database: Database): CatalogueReader {
  const pet = database.query(
    `SELECT ${petColumns} FROM pets JOIN inventory USING (pet_id) WHERE pet_id = ?`,
  );
  const name = database.query(`SELECT ${petNameColumns} FROM pets WHERE pet_id = ?`);
  return {
    ...scriptsOn(database, { ...petReads, ...orderReads }),
    findPet: (petId) => pet.values(petId).map(toPet)[0],
    namesOf: (petIds) =>
      [...new Set(petIds)]
        .sort((a, b) => (a < b ? -1 : 1))
        .flatMap((petId) => name.values(petId).map(toPetName)),
  };
}
