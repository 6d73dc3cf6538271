import type { PetRecord } from "../../src/domain/catalogue/pets.ts";

/** A row of an import, with a name and the given fields. */
export function petRow(pet: Partial<PetRecord> & { petId: bigint }, at = 0): PetRecord {
  return { line: at + 1, name: `Pet ${pet.petId}`, ...pet };
}
