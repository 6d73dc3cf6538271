import type {
  Batches,
  Imported,
  ImportOrigin,
  ImportPreview,
  TakeDifferences,
} from "./import-preview.ts";
import type { Problems } from "./import-problems.ts";
import { orderRows, petRows, type RowKind } from "./imports.ts";
import type { OrderRecord } from "./orders.ts";
import type { PetRecord } from "./pets.ts";
import type { CatalogueStore } from "./store.ts";

/** What differs between imports of pets and of orders. */
export interface ImportKind<T> {
  readonly what: "pets" | "orders";
  /** The name of the id in JSON. */
  readonly id: "petId" | "id";
  readonly rows: RowKind<T>;
  importAll(
    catalogue: CatalogueStore,
    records: Batches<T>,
    origin: ImportOrigin,
    problems: Problems,
  ): Promise<Imported>;
  preview(
    preview: ImportPreview,
    records: Batches<T>,
    problems: Problems,
    take: TakeDifferences,
  ): Promise<Imported>;
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
