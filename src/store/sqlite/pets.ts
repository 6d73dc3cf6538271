import type { Database } from "bun:sqlite";
import type { RowOrigin } from "../../domain/ledger/ledger.ts";
import { createPet, type PetArgs, removePet } from "../pets.ts";
import type { LedgerWriter } from "./commit.ts";
import { createRunner } from "./engine/scripts.ts";

/** Creates and removes single pets. Each call is one transaction. */
export function createPetWriter(database: Database, { transact }: Pick<LedgerWriter, "transact">) {
  const run = createRunner(database);
  return {
    createPet: (pet: PetArgs[0], origin: PetArgs[1], now: number) =>
      transact(now, (add) => run(createPet(add, pet, origin))),
    removePet: (petId: bigint, version: number | undefined, origin: RowOrigin, now: number) =>
      transact(now, (add) => run(removePet(add, petId, version, origin))),
  };
}
