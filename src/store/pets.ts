import { type PetDetails, valueTaken } from "../domain/catalogue/pet-fields.ts";
import type { AddedRow, PetCreation, PetRemoval } from "../domain/catalogue/pets.ts";
import type { CatalogueStore } from "../domain/catalogue/store.ts";
import type { RowContent } from "../domain/ledger/append.ts";
import type { RowOrigin } from "../domain/ledger/ledger.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { note } from "./audit.ts";
import { remember } from "./made.ts";
import * as petRows from "./pet-rows.ts";
import { entryColumns, toEntry } from "./rows.ts";
import {
  type Dialect,
  ifChanged,
  readFirst,
  run,
  type Script,
  type ScriptsOf,
} from "./statements.ts";

/** Creates, removes and changes single pets. Each script is one transaction. */

/** Adds a row to the end of the ledger. */
export type AddRow = (content: RowContent) => Script<AddedRow>;

/** The details of a pet as parameters, from this one on. */
const detailsFrom = (first: number) =>
  petRows.detailTypes.map((type, at) => `$${first + at}::${type}`);

const insertPet = `INSERT INTO pets (${petRows.petTableColumns})
  VALUES ($1::int8, ${detailsFrom(2).join(", ")})`;
const insertEntry = `INSERT INTO inventory (${entryColumns})
  VALUES ($1::int8, $2::int8, $3, $4::int8)`;
const findRemoval = "SELECT version FROM removed_pets WHERE pet_id = $1::int8";
const noteRemoval = `INSERT INTO removed_pets (pet_id, version) VALUES ($1::int8, $2::int8)
  ON CONFLICT (pet_id) DO UPDATE SET version = excluded.version`;

export type PetArgs = Parameters<CatalogueStore["createPet"]>;

export function* createPet(add: AddRow, ...[pet, by]: PetArgs): Script<PetCreation> {
  const { once, ...origin } = by;
  const { petId, quantity, status } = pet;
  const existing = yield* run("SELECT 1 FROM pets WHERE pet_id = $1::int8", [petId]);
  if (existing.length > 0) return { kind: "exists" };
  yield* assertUnique(petId, pet);
  yield* run(insertPet, [petId, ...petRows.detailValues(pet)]);
  const previous = (yield* readFirst(([version]) => Number(version), findRemoval, [petId])) ?? null;
  const after = { quantity, status };
  const added = yield* add({ petId, before: null, after, previous, ...origin });
  yield* run(insertEntry, [petId, quantity, status, added.row.seq]);
  yield* remember(once, `${petId}`, added.row.at);
  return { kind: "created", ...added };
}

/** Throws if another pet has a value that only one may have. The catalogue is locked. */
function* assertUnique(petId: bigint, details: PetDetails): Script<void> {
  for (const { name, column, label } of petRows.uniqueFields) {
    const value = details[name] as string | null;
    const text = `SELECT pet_id FROM pets WHERE ${column} = $1::text AND pet_id <> $2::int8`;
    const owner = yield* readFirst(([id]) => id as bigint, text, [value, petId]);
    if (owner === undefined) continue;
    throw new ServiceError("already_exists", valueTaken(label, value!, owner));
  }
}

export function* removePet(
  add: AddRow,
  petId: bigint,
  expectedVersion: number | undefined,
  origin: RowOrigin,
): Script<PetRemoval> {
  const text = `SELECT ${entryColumns} FROM inventory WHERE pet_id = $1::int8`;
  const current = yield* readFirst(toEntry, text, [petId]);
  if (!current) return { kind: "not_found" };
  const { quantity, status, version } = current;
  if (expectedVersion !== undefined && version !== expectedVersion) {
    return { kind: "mismatch", current };
  }
  const before = { quantity, status };
  const added = yield* add({ petId, before, after: null, previous: version, ...origin });
  yield* run("DELETE FROM inventory WHERE pet_id = $1::int8", [petId]);
  yield* run("DELETE FROM pets WHERE pet_id = $1::int8", [petId]);
  yield* run(noteRemoval, [petId, added.row.seq]);
  return { kind: "removed", ...added };
}

const assigned = detailsFrom(2).map((value, at) => `${petRows.detailColumns[at]} = ${value}`);
const known = detailsFrom(2 + petRows.detailTypes.length).map(
  (value, at) => `${petRows.detailColumns[at]} IS NOT DISTINCT FROM ${value}`,
);
const updatePet = `UPDATE pets SET ${assigned.join(", ")}
  WHERE pet_id = $1::int8 AND ${known.join(" AND ")} RETURNING pet_id`;

export const petWrites = (dialect: Dialect): ScriptsOf<CatalogueStore, "changePet"> => ({
  *changePet(petId, before, after, entry) {
    if (petRows.uniqueFields.some(({ name }) => after[name] !== before[name])) {
      yield* run(dialect.lockCatalogue);
      yield* assertUnique(petId, after);
    }
    const values = [petId, ...petRows.detailValues(after), ...petRows.detailValues(before)];
    return yield* ifChanged(run(updatePet, values), note(dialect, entry));
  },
});
