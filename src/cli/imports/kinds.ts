import type {
  Batches,
  Imported,
  ImportOrigin,
  ImportPreview,
  TakeDifferences,
} from "../../domain/catalogue/import-preview.ts";
import type { Problems } from "../../domain/catalogue/import-problems.ts";
import {
  type Fields,
  orderColumns,
  petColumns,
  toOrderRecord,
  toPetRecord,
} from "../../domain/catalogue/imports.ts";
import type { OrderRecord } from "../../domain/catalogue/orders.ts";
import type { PetRecord } from "../../domain/catalogue/pets.ts";
import type { CatalogueStore } from "../../domain/catalogue/store.ts";

/** What differs between imports of pets and of orders. */
export interface ImportKind<T> {
  readonly what: "pets" | "orders";
  readonly columns: readonly string[];
  /** The name of the id in JSON. */
  readonly id: "petId" | "id";
  toRecord(line: number, fields: Fields, problems: Problems): T | [];
  importAll(
    catalogue: CatalogueStore,
    records: Batches<T>,
    problems: Problems,
    origin: ImportOrigin,
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
  columns: petColumns,
  id: "petId",
  toRecord: toPetRecord,
  importAll: (catalogue, records, problems, origin) =>
    catalogue.importPets(records, origin, problems),
  preview: (preview, ...args) => preview.previewPets(...args),
};

export const orders: ImportKind<OrderRecord> = {
  what: "orders",
  columns: orderColumns,
  id: "id",
  toRecord: toOrderRecord,
  importAll: (catalogue, records, problems, origin) =>
    catalogue.importOrders(records, origin, problems),
  preview: (preview, ...args) => preview.previewOrders(...args),
};
