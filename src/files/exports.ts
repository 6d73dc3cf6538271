import { orderRows, petRows, type RowKind } from "../domain/catalogue/imports.ts";
import type { Order } from "../domain/catalogue/orders.ts";
import type { Pet } from "../domain/catalogue/pets.ts";
import type { CatalogueReader } from "../domain/catalogue/store.ts";
import { csvLine } from "../domain/values/spreadsheet-text.ts";
import { isoOrNull } from "../domain/values/times.ts";
import type { Format } from "./formats.ts";

/** What is exported, in the columns that an import reads. */
export interface Content<Row> {
  readonly columns: RowKind<never>["columns"];
  /** The rows after `last`, or the first ones. Empty after the last row. */
  readonly readPage: (
    reader: CatalogueReader,
    last: Row | undefined,
    rowsMax: number,
  ) => Promise<readonly Row[]> | readonly Row[];
  readonly toJson: (row: Row) => string;
  /** The values of the columns. */
  readonly toFields: (row: Row) => Readonly<Record<string, unknown>>;
}

/** The text of a file with all rows, one piece per page of at most `pageRows` rows. */
export async function* exportText<Row>(
  reader: CatalogueReader,
  content: Content<Row>,
  format: Format,
  pageRows: number,
  advance: (rows: number) => void = () => {},
): AsyncGenerator<string> {
  const { opening, separator, closing, write } = layoutOf(format, content);
  yield opening;
  let last: Row | undefined;
  for (;;) {
    const page = await content.readPage(reader, last, pageRows);
    if (page.length === 0) break;
    yield (last === undefined ? "" : separator) + page.map(write).join(separator);
    last = page.at(-1);
    advance(page.length);
  }
  yield last === undefined ? closing.trimStart() : closing;
}

function layoutOf<Row>(format: Format, { columns, toJson, toFields }: Content<Row>) {
  switch (format) {
    case "json":
      return { opening: "[", separator: ",\n ", closing: "]\n", write: toJson };
    case "ndjson":
      return { opening: "", separator: "\n", closing: "\n", write: toJson };
    case "csv": {
      const write = (row: Row) => csvLine(columns, toFields(row));
      const opening = `${Object.keys(columns).join()}\n`;
      return { opening, separator: "\n", closing: "\n", write };
    }
  }
}

export const petContent: Content<Pet> = {
  columns: petRows.columns,
  readPage: (reader, last, rowsMax) => reader.petsAfter(last?.petId ?? null, rowsMax),
  toJson: ({ petId, ...rest }) => `{"petId":${petId},${JSON.stringify(rest).slice(1)}`,
  toFields: (pet) => ({ ...pet }),
};

/** The newest first. */
export const orderContent: Content<Order> = {
  columns: orderRows.columns,
  readPage: (reader, last, limit) => reader.listOrders({ after: last?.id ?? null, limit }),
  toJson(order) {
    const { id, petId, ...rest } = withIsoDate(order);
    return `{"id":${id},"petId":${petId},${JSON.stringify(rest).slice(1)}`;
  },
  toFields: withIsoDate,
};

function withIsoDate(order: Order) {
  return { ...order, shipDate: isoOrNull(order.shipDate) };
}
