import type { Database } from "bun:sqlite";
import type { AuditEntry } from "../../domain/audit/audit.ts";
import type { PetDetails } from "../../domain/catalogue/pet-fields.ts";
import type { Pet, PetCreation, PetRemoval } from "../../domain/catalogue/pets.ts";
import type { PetStatus } from "../../domain/ledger/inventory.ts";
import type { RowOrigin } from "../../domain/ledger/ledger.ts";
import { detailColumns, detailValues, petTableColumns } from "../pet-rows.ts";
import { placeholders } from "../tables.ts";
import { createEntryInserter } from "./audit.ts";
import type { LedgerWriter } from "./commit.ts";
import { inTransaction } from "./engine/connection.ts";

/** Creates, removes and changes single pets. Each call is one transaction. */
export function createPetWriter(database: Database, { transact }: Pick<LedgerWriter, "transact">) {
  const note = createEntryInserter(database);
  const petOf = database.query("SELECT 1 FROM pets WHERE pet_id = ?");
  const insertPet = database.query(
    `INSERT INTO pets (${petTableColumns}) VALUES (${placeholders(petTableColumns)})`,
  );
  const insertEntry = database.query(
    "INSERT INTO inventory (pet_id, quantity, status, version) VALUES (?, ?, ?, ?)",
  );
  const entryOf = database.query(
    "SELECT quantity, status, version FROM inventory WHERE pet_id = ?",
  );
  const removalOf = database.query("SELECT version FROM removed_pets WHERE pet_id = ?");
  const deleteEntry = database.query("DELETE FROM inventory WHERE pet_id = ?");
  const deletePet = database.query("DELETE FROM pets WHERE pet_id = ?");
  const noteRemoval = database.query(
    `INSERT INTO removed_pets (pet_id, version) VALUES (?, ?)
     ON CONFLICT (pet_id) DO UPDATE SET version = excluded.version`,
  );
  const updatePet = database.query(
    `UPDATE pets SET ${detailColumns.map((column) => `${column} = ?`).join(", ")}
     WHERE pet_id = ? AND ${detailColumns.map((column) => `${column} IS ?`).join(" AND ")}`,
  );

  return {
    createPet: (pet: Pet, origin: RowOrigin, now: number): PetCreation =>
      transact(now, (add) => {
        const { petId, quantity, status } = pet;
        if (petOf.values(petId).length > 0) return { kind: "exists" };
        insertPet.run(petId, ...detailValues(pet));
        const removal = removalOf.values(petId)[0];
        const previous = removal ? Number(removal[0]) : null;
        const after = { quantity, status };
        const added = add({ petId, before: null, after, previous, ...origin });
        insertEntry.run(petId, quantity, status, added.row.seq);
        return { kind: "created", ...added };
      }),
    removePet: (
      petId: bigint,
      expectedVersion: number | undefined,
      origin: RowOrigin,
      now: number,
    ): PetRemoval =>
      transact(now, (add) => {
        const found = entryOf.values(petId)[0];
        if (!found) return { kind: "not_found" };
        const before = { quantity: Number(found[0]), status: found[1] as PetStatus };
        const version = Number(found[2]);
        if (expectedVersion !== undefined && version !== expectedVersion) {
          return { kind: "mismatch", current: { petId, ...before, version } };
        }
        const added = add({ petId, before, after: null, previous: version, ...origin });
        deleteEntry.run(petId);
        deletePet.run(petId);
        noteRemoval.run(petId, added.row.seq);
        return { kind: "removed", ...added };
      }),
    changePet: inTransaction(
      database,
      (petId: bigint, before: PetDetails, after: PetDetails, entry: AuditEntry): boolean => {
        const values = [...detailValues(after), petId, ...detailValues(before)];
        const isChanged = updatePet.run(...values).changes > 0;
        if (isChanged) note(entry);
        return isChanged;
      },
    ),
  };
}
