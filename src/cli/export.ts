import { orderColumns, petColumns } from "../domain/imports.ts";
import type { Order } from "../domain/orders.ts";
import type { Pet } from "../domain/pets.ts";
import type { CatalogueReader } from "../domain/ports.ts";
import { type Format, formatOf, writeText } from "./files.ts";
import { csvCell } from "./imports/csv.ts";
import { createProgress } from "./progress.ts";
import type { StoreInput } from "./with-store.ts";

const pageRows = 5_000;

interface ExportFlags {
  readonly format: string | undefined;
}

type ExportInput = StoreInput<ExportFlags, readonly [file: string]>;

/** What is exported, in the columns that an import reads. */
interface Content<Row> {
  readonly columns: readonly string[];
  /** The rows after `last`, or the first ones. Empty after the last row. */
  readonly readPage: (
    reader: CatalogueReader,
    last: Row | undefined,
  ) => Promise<readonly Row[]> | readonly Row[];
  readonly toJson: (row: Row) => string;
  readonly toCells: (row: Row) => readonly string[];
}

/** Writes all pets as of one moment. */
export function exportPets(input: ExportInput): Promise<number> {
  return exportContent(input, pets);
}

/** Writes all orders as of one moment, the newest first. */
export function exportOrders(input: ExportInput): Promise<number> {
  return exportContent(input, orders);
}

async function exportContent<Row>(
  { flags, operands: [file], store }: ExportInput,
  content: Content<Row>,
): Promise<number> {
  const layout = layoutOf(formatOf(file, flags.format), content);
  // On a terminal, the line would be between the rows.
  const isShown = file === "-" && process.stdout.isTTY;
  const progress = isShown ? undefined : createProgress(`Exporting to ${file}`);
  try {
    await store.transfer.snapshot((reader) =>
      writeText(
        file,
        pieces(pagesOf(reader, content), layout, (rows) => progress?.advance(rows)),
      ),
    );
  } finally {
    progress?.end();
  }
  return 0;
}

async function* pagesOf<Row>(reader: CatalogueReader, { readPage }: Content<Row>) {
  let last: Row | undefined;
  for (;;) {
    const page = await readPage(reader, last);
    if (page.length === 0) return;
    yield page;
    last = page.at(-1);
  }
}

interface Layout<Row> {
  readonly opening: string;
  readonly separator: string;
  readonly closing: string;
  readonly write: (row: Row) => string;
}

function layoutOf<Row>(format: Format, { columns, toJson, toCells }: Content<Row>): Layout<Row> {
  switch (format) {
    case "json":
      return { opening: "[", separator: ",\n ", closing: "]\n", write: toJson };
    case "ndjson":
      return { opening: "", separator: "\n", closing: "\n", write: toJson };
    case "csv": {
      const write = (row: Row) => toCells(row).map(csvCell).join();
      return { opening: `${columns.join()}\n`, separator: "\n", closing: "\n", write };
    }
  }
}

async function* pieces<Row>(
  pages: AsyncIterable<readonly Row[]>,
  { opening, separator, closing, write }: Layout<Row>,
  advance: (rows: number) => void,
): AsyncGenerator<string> {
  yield opening;
  let isFirst = true;
  for await (const page of pages) {
    yield (isFirst ? "" : separator) + page.map(write).join(separator);
    isFirst = false;
    advance(page.length);
  }
  yield isFirst ? closing.trimStart() : closing;
}

const pets: Content<Pet> = {
  columns: petColumns,
  readPage: (reader, last) => reader.petsAfter(last?.petId ?? null, pageRows),
  toJson: ({ petId, ...rest }) => `{"petId":${petId},${JSON.stringify(rest).slice(1)}`,
  toCells: (pet) => [
    String(pet.petId),
    pet.name,
    pet.category ?? "",
    listCell(pet.tags),
    listCell(pet.photoUrls),
    pet.status,
    String(pet.quantity),
  ],
};

const orders: Content<Order> = {
  columns: orderColumns,
  readPage: (reader, last) => reader.listOrders({ after: last?.id ?? null, limit: pageRows }),
  toJson: ({ id, petId, shipDate, quantity, status, complete }) => {
    const rest = { quantity, shipDate: isoOrNull(shipDate), status, complete };
    return `{"id":${id},"petId":${petId},${JSON.stringify(rest).slice(1)}`;
  },
  toCells: (order) => [
    String(order.id),
    String(order.petId),
    String(order.quantity),
    isoOrNull(order.shipDate) ?? "",
    order.status,
    String(order.complete),
  ],
};

function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

/** Joins items with bars. Writes a JSON array if a bar or a bracket in an item would be misread. */
function listCell(items: readonly string[]): string {
  const isPlain = items.every((item) => !item.includes("|")) && !items[0]?.startsWith("[");
  return items.length === 0 ? "" : isPlain ? items.join("|") : JSON.stringify(items);
}
