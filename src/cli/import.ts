import { statSync } from "node:fs";
import { orderColumns, petColumns, toOrderRecord, toPetRecord } from "../domain/imports.ts";
import type { Imported } from "../domain/ports.ts";
import { print } from "../output.ts";
import { formatOf, readText } from "./files.ts";
import { beginChange } from "./interruption.ts";
import { createProgress } from "./progress.ts";
import { type Row, readRows } from "./rows.ts";
import type { StoreInput } from "./with-store.ts";

interface ImportFlags {
  readonly format: string | undefined;
  readonly json: boolean;
}

type ImportInput = StoreInput<ImportFlags, readonly [file: string]>;

export async function importPets({ flags, operands: [file], store }: ImportInput) {
  using text = readWithProgress(file);
  const rows = readRows(text.pieces, formatOf(file, flags.format), petColumns);
  const records = toBatches(rows, ({ line, fields }) => toPetRecord(line, fields));
  const imported = await store.catalogue.importPets(records, `import of ${file}`);
  return printResult("pets", imported, flags.json);
}

export async function importOrders({ flags, operands: [file], store }: ImportInput) {
  using text = readWithProgress(file);
  const rows = readRows(text.pieces, formatOf(file, flags.format), orderColumns);
  const records = toBatches(rows, ({ line, fields }) => toOrderRecord(line, fields));
  return printResult("orders", await store.catalogue.importOrders(records), flags.json);
}

/** Shows how much of the file was read, until the import has ended. */
function readWithProgress(file: string) {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size;
  const progress = createProgress(`Importing ${file}`, bytes, { unit: "bytes" });
  async function* read(): AsyncGenerator<string> {
    for await (const piece of readText(file)) {
      progress.advance(Buffer.byteLength(piece));
      yield piece;
    }
  }
  return { pieces: read(), [Symbol.dispose]: progress.end };
}

async function* toBatches<T>(
  rows: AsyncIterable<readonly Row[]>,
  read: (row: Row) => T,
): AsyncGenerator<readonly T[]> {
  for await (const batch of rows) yield batch.map(read);
  // The store now applies all rows in one transaction.
  beginChange();
}

function printResult(what: string, imported: Imported, asJson: boolean): number {
  const { created, changed, unchanged } = imported;
  if (asJson) print(JSON.stringify(imported));
  else print(`Imported ${what}: ${created} created, ${changed} changed, ${unchanged} unchanged.`);
  return 0;
}
