import type { Entry, Stock } from "../ledger/inventory.ts";
import type { LedgerRow } from "../ledger/ledger.ts";
import type { PetDetails } from "./pet-fields.ts";

/** A pet of the catalogue, with the quantity and status of its inventory entry. */
export interface Pet extends PetDetails, Stock {
  readonly petId: bigint;
}

/** What lists say about a pet, besides its stock. */
export type PetName = Pick<Pet, "petId" | "name" | "category" | "barcode" | "lowStockAt">;

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

/** One row of an import. A field that is not given, or undefined, keeps its value. */
export interface PetRecord extends Given<PetDetails & Stock> {
  readonly line: number;
  readonly petId: bigint;
  /** The row breaks a rule. It is not imported, but its id counts. */
  readonly isBad?: boolean;
}

type Given<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

/** When GET /pets/{petId} was deprecated, in milliseconds since 1970. */
export const petsDeprecatedAt = Date.UTC(2026, 0, 1);

/** The stock of a new pet, unless the import gives another. */
export const newPetStock = { status: "available", quantity: 0 } as const;
