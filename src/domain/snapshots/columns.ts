import { type Entry, type PetStatus, petStatuses, type Stock } from "../ledger/inventory.ts";

/**
 * Entries in typed arrays, by ascending pet id. A million entries take 25 MB and no work of the
 * garbage collector. As objects they take more than 100 MB.
 */
export interface EntryColumns {
  readonly count: number;
  readonly petIds: BigInt64Array;
  readonly quantities: Float64Array;
  /** A status as a number; 0 if there is no entry, for a pet that was removed. */
  readonly statuses: Uint8Array;
  readonly versions: Float64Array;
}

/** Only quantities and statuses. */
export type StockColumns = Pick<EntryColumns, "quantities" | "statuses">;

/** The number of entries that are read, merged or sent at a time: about a millisecond of work. */
export const sliceEntries = 8_192;

const statusCodes = new Map<PetStatus, number>(
  petStatuses.map((status, index) => [status, index + 1]),
);

export const noEntry = 0;

export function statusCode(status: PetStatus): number {
  return statusCodes.get(status)!;
}

export function statusAt(code: number): PetStatus {
  return petStatuses[code - 1]!;
}

export function emptyColumns(length: number): EntryColumns & { count: number } {
  return {
    count: 0,
    petIds: new BigInt64Array(length),
    quantities: new Float64Array(length),
    statuses: new Uint8Array(length),
    versions: new Float64Array(length),
  };
}

export function stockAt({ quantities, statuses }: StockColumns, index: number): Stock | null {
  const code = statuses[index]!;
  return code === noEntry ? null : { quantity: quantities[index]!, status: statusAt(code) };
}

/** The entries as objects, for callers that handle few of them at a time. */
export function entriesOf(columns: EntryColumns): Entry[] {
  return Array.from({ length: columns.count }, (_, index) => ({
    petId: columns.petIds[index]!,
    ...stockAt(columns, index)!,
    version: columns.versions[index]!,
  }));
}

/** Copies one entry without making a BigInt of its id. `ids` are the halves of each column of ids. */
export function copyEntry(
  from: EntryColumns,
  fromIds: Int32Array,
  index: number,
  to: EntryColumns,
  toIds: Int32Array,
  target: number,
): void {
  toIds[2 * target] = fromIds[2 * index]!;
  toIds[2 * target + 1] = fromIds[2 * index + 1]!;
  to.quantities[target] = from.quantities[index]!;
  to.statuses[target] = from.statuses[index]!;
  to.versions[target] = from.versions[index]!;
}
