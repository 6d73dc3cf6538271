import type { LedgerRow } from "../../../domain/ledger/ledger.ts";
import {
  pushLedgerValues,
  storedLedgerColumns,
  storedLedgerTypes,
  type Value,
} from "../../rows.ts";
import { bytesArray, integerArray, textArray } from "./arrays.ts";

/** Inserts rows. Parameter `first` and those after it are the columns that `rowArrays` returns. */
export function insertRows(first: number): string {
  const arrays = storedLedgerTypes.map((type, at) => `$${first + at}::${type}[]`);
  return `INSERT INTO ledger (${storedLedgerColumns}) SELECT * FROM unnest(${arrays.join()})`;
}

/** One array for each column. */
export function rowArrays(rows: readonly LedgerRow[], hashes: readonly string[]): string[] {
  const values: Value[] = [];
  for (let at = 0; at < rows.length; at++) {
    pushLedgerValues(values, rows[at]!);
    values.push(hashes[at]!);
  }
  const width = storedLedgerTypes.length;
  return storedLedgerTypes.map((type, column) => {
    const ofColumn = rows.map((_, at) => values[at * width + column]);
    if (type === "int8") return integerArray(ofColumn as (bigint | number | null)[]);
    return (type === "text" ? textArray : bytesArray)(ofColumn as (string | null)[]);
  });
}
