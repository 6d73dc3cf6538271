import { type Actor, commandLine } from "../audit/audit.ts";
import type { Problems } from "./import-problems.ts";
import type { OrderRecord } from "./orders.ts";
import type { PetRecord } from "./pets.ts";

/** Who imports, and from where. */
export interface ImportOrigin {
  readonly actor: Actor;
  /** Such as `import of pets.csv`. In the ledger rows and in the audit log. */
  readonly reason: string;
  /**
   * Only of an undo of many changes, which is stored like an import: the last row of the ledger that it
   * has seen. Pets that have changed after it are left out.
   */
  readonly undoAsOf?: number;
}

/** The origin of an import by a command. */
export function commandImport(reason: string): ImportOrigin {
  return { actor: commandLine, reason };
}

/** How many pets or orders an import concerns. */
export interface Imported {
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
}

/** What an import would change in one field. */
export interface ImportDifference {
  /** The id of the pet or of the order. */
  readonly id: bigint;
  readonly field: string;
  /** Null for a new pet or order. */
  readonly from: unknown;
  readonly to: unknown;
}

/** A column of a file with a table: CSV, or a sheet of a workbook. */
export interface FoundColumn {
  readonly header: string;
  /** Null if the header is unknown. `ignore` if the column is left out. */
  readonly field: string | null;
}

export type Batches<T> = AsyncIterable<readonly T[]>;
export type TakeDifferences = (differences: readonly ImportDifference[]) => Promise<void>;

/**
 * Shows what an import would do, and changes nothing. The differences are in the order of ids.
 * Rejects with the problems that the import would have.
 */
export interface ImportPreview {
  readonly previewPets: Preview<PetRecord>;
  readonly previewOrders: Preview<OrderRecord>;
}

export type Preview<T> = (
  records: Batches<T>,
  problems: Problems,
  take: TakeDifferences,
) => Promise<Imported>;
