import type { Imported, ImportPreview, Preview } from "./import-preview.ts";
import { orderRows, petRows, type RowKind } from "./imports.ts";
import type { OrderRecord } from "./orders.ts";
import type { PetRecord } from "./pets.ts";
import type { CatalogueStore, Import } from "./store.ts";

/** What differs between imports of pets and of orders. */
export interface ImportKind<T> {
  readonly what: "pets" | "orders";
  /** The name of the id in JSON. */
  readonly id: "petId" | "id";
  readonly rows: RowKind<T>;
  importAll(catalogue: CatalogueStore, ...args: Parameters<Import<T>>): Promise<Imported>;
  preview(preview: ImportPreview, ...args: Parameters<Preview<T>>): Promise<Imported>;
}

export const pets: ImportKind<PetRecord> = {
  what: "pets",
  id: "petId",
  rows: petRows,
  importAll: (catalogue, ...args) => catalogue.importPets(...args),
  preview: (preview, ...args) => preview.previewPets(...args),
};

export const orders: ImportKind<OrderRecord> = {
  what: "orders",
  id: "id",
  rows: orderRows,
  importAll: (catalogue, ...args) => catalogue.importOrders(...args),
  preview: (preview, ...args) => preview.previewOrders(...args),
};
