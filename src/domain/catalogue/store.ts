import type { Actor, AuditEntry } from "../audit/audit.ts";
import type { RowOrigin } from "../ledger/ledger.ts";
import type { MaybePromise } from "../running/clock.ts";
import type { Batches, Imported, ImportOrigin, ImportPreview } from "./import-preview.ts";
import type { Problems } from "./import-problems.ts";
import type { Order, OrderPage, OrderRecord } from "./orders.ts";
import type { PetDetails } from "./pet-fields.ts";
import type { NamedEntry, Pet, PetCreation, PetName, PetRecord, PetRemoval } from "./pets.ts";

export interface CatalogueReader {
  petsAfter(petId: bigint | null, rowsMax: number): MaybePromise<readonly Pet[]>;
  findPet(petId: bigint): MaybePromise<Pet | undefined>;
  /** Entries with a larger petId (null: from the first) and their names, ascending. */
  namedEntriesAfter(petId: bigint | null, rowsMax: number): MaybePromise<readonly NamedEntry[]>;
  /** The names of these pets, ascending by id. Pets that do not exist are left out. */
  namesOf(petIds: readonly bigint[]): MaybePromise<readonly PetName[]>;
  /** Orders by descending id. */
  listOrders(page: OrderPage): MaybePromise<readonly Order[]>;
}

export type Import<T> = (
  records: Batches<T>,
  origin: ImportOrigin,
  problems?: Problems,
) => Promise<Imported>;

export interface CatalogueStore extends CatalogueReader, ImportPreview {
  /**
   * Inserts or updates pets by id, all or none. Rows are staged as they arrive and applied in one
   * short transaction. Fields that a record does not give keep their value. Each entry that is
   * created or changed gets a ledger row. Adds its own problems to those of reading the records, and
   * rejects with `RejectedImport` if there are any. Every import adds a row to the audit log.
   */
  readonly importPets: Import<PetRecord>;
  readonly importOrders: Import<OrderRecord>;
  /** Adds a pet with its entry, and the ledger row that creates it, which has no idempotency key. */
  createPet(pet: Pet, origin: RowOrigin & Pick<Actor, "once">): Promise<PetCreation>;
  /**
   * Removes a pet with its entry, and adds the ledger row that says so. If `expectedVersion` is given,
   * the entry must be at that version. The pet's rows stay, and a pet that is created again with the
   * same id continues them.
   */
  removePet(
    petId: bigint,
    expectedVersion: number | undefined,
    origin: RowOrigin,
  ): Promise<PetRemoval>;
  /**
   * Stores the details of a pet. Returns false, changes nothing and adds no entry, if the pet does not
   * have those of `before` any more, or was removed. Throws `already_exists` if another pet has a value
   * that only one may have. So does `createPet`.
   */
  changePet(
    petId: bigint,
    before: PetDetails,
    after: PetDetails,
    entry: AuditEntry,
  ): Promise<boolean>;
}
