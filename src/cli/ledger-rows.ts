import type { Stock } from "../domain/ledger/inventory.ts";
import { ledgerRowJson, type NamedRow } from "../domain/ledger/ledger.ts";
import type { Column, Listing } from "./table.ts";

/** The two columns of a stock. A pet without an entry has a dash. */
export function stockColumns<Row>(
  title: string,
  stockOf: (row: Row) => Stock | null,
): readonly Column<Row>[] {
  return [
    { title, align: "right", cell: (row) => String(stockOf(row)?.quantity ?? "-") },
    { title: "", align: "left", cell: (row) => stockOf(row)?.status ?? "", isJoined: true },
  ];
}

export function petColumn<Row extends { readonly petId: bigint }>(): Column<Row> {
  return { title: "petId", align: "right", cell: ({ petId }) => String(petId) };
}

const seqColumn: Column<NamedRow> = { title: "seq", align: "right", cell: ({ seq }) => `${seq}` };

const changeColumns: readonly Column<NamedRow>[] = [
  ...stockColumns<NamedRow>("before", ({ before }) => before),
  ...stockColumns<NamedRow>("after", ({ after }) => after),
  { title: "cause", align: "left", cell: ({ cause }) => cause },
  { title: "at", align: "left", cell: ({ at }) => new Date(at).toISOString() },
  { title: "key", align: "left", cell: ({ keyName, keyId }) => keyName ?? keyId ?? "-" },
  { title: "reason", align: "left", cell: ({ reason }) => reason ?? "" },
];

/** Rows of the whole ledger. */
export const ledgerListing: Listing<NamedRow> = {
  columns: [seqColumn, petColumn(), ...changeColumns],
  toJson: ledgerRowJson,
};

/** Rows of one pet. */
export const historyListing: Listing<NamedRow> = {
  columns: [seqColumn, ...changeColumns],
  toJson: ledgerRowJson,
};
