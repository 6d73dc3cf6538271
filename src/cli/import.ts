import { orderColumns, petColumns, toOrderRecord, toPetRecord } from "../domain/imports.ts";
import type { Imported } from "../domain/ports.ts";
import { print } from "../output.ts";
import { formatOf, readText } from "./files.ts";
import { type Row, readRows } from "./rows.ts";
import type { StoreInput } from "./with-store.ts";

interface ImportFlags {
  readonly format: string | undefined;
  readonly json: boolean;
}

type ImportInput = StoreInput<ImportFlags, readonly [file: string]>;

export async function importPets({ flags, operands: [file], store }: ImportInput) {
  const rows = readRows(readText(file), formatOf(file, flags.format), petColumns);
  const records = toBatches(rows, ({ line, fields }) => toPetRecord(line, fields));
  const imported = await store.catalogue.importPets(records, `import of ${file}`);
  return printResult("pets", imported, flags.json);
}

export async function importOrders({ flags, operands: [file], store }: ImportInput) {
  const rows = readRows(readText(file), formatOf(file, flags.format), orderColumns);
  const records = toBatches(rows, ({ line, fields }) => toOrderRecord(line, fields));
  return printResult("orders", await store.catalogue.importOrders(records), flags.json);
}

async function* toBatches<T>(
  rows: AsyncIterable<readonly Row[]>,
  read: (row: Row) => T,
): AsyncGenerator<readonly T[]> {
  const progress = createProgress();
  for await (const batch of rows) {
    yield batch.map(read);
    progress(batch.length);
  }
  progress(0, true);
}

/** Shows a row count on a terminal. Carriage returns would spoil a log file. */
function createProgress(): (rows: number, done?: boolean) => void {
  let total = 0;
  return (rows, done = false) => {
    total += rows;
    if (!process.stderr.isTTY) return;
    process.stderr.write(`\r${total.toLocaleString("en")} rows read${done ? "; storing\n" : ""}`);
  };
}

function printResult(what: string, imported: Imported, asJson: boolean): number {
  const { created, changed, unchanged } = imported;
  if (asJson) print(JSON.stringify(imported));
  else print(`Imported ${what}: ${created} created, ${changed} changed, ${unchanged} unchanged.`);
  return 0;
}
