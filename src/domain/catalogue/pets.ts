import type { Entry, PetStatus } from "../ledger/inventory.ts";
import type { LedgerRow } from "../ledger/ledger.ts";

/** A pet of the catalogue, with the quantity and status of its inventory entry. */
export interface Pet {
  readonly petId: bigint;
  readonly name: string;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly photoUrls: readonly string[];
  readonly status: PetStatus;
  readonly quantity: number;
}

/** What the catalogue says about a pet. Its quantity and status are in the inventory. */
export type PetDetails = Pick<Pet, "name" | "category" | "tags" | "photoUrls">;

/** What people recognise a pet by. */
export type PetName = Pick<Pet, "petId" | "name" | "category">;

export interface NamedEntry extends Entry, PetName {}

/** A row that was added to the ledger, and the epoch in which it was. */
export interface AddedRow {
  readonly row: LedgerRow;
  readonly epoch: string;
}

export type PetCreation = ({ readonly kind: "created" } & AddedRow) | { readonly kind: "exists" };

export type PetRemoval =
  | ({ readonly kind: "removed" } & AddedRow)
  | { readonly kind: "not_found" }
  /** The entry is not at the expected version. */
  | { readonly kind: "mismatch"; readonly current: Entry };

/** One row of an import. An undefined field keeps its value. */
export interface PetRecord {
  readonly line: number;
  readonly petId: bigint;
  readonly name: string | undefined;
  readonly category: string | null | undefined;
  readonly tags: readonly string[] | undefined;
  readonly photoUrls: readonly string[] | undefined;
  readonly status: PetStatus | undefined;
  readonly quantity: number | undefined;
  /** The row breaks a rule. It is not imported, but its id counts. */
  readonly isBad?: boolean;
}

/** When GET /pets/{petId} was deprecated, in milliseconds since 1970. */
export const petsDeprecatedAt = Date.UTC(2026, 0, 1);

/** The stock of a new pet, unless the import gives another. */
export const newPetStock = { status: "available", quantity: 0 } as const;
