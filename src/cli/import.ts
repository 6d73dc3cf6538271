import { orderColumns, petColumns, toOrderRecord, toPetRecord } from "../domain/imports.ts";
import type { Imported } from "../domain/ports.ts";
import { print } from "../output.ts";
import { formatOf, readText } from "./files.ts";
import { type Row, readRows } from "./rows.ts";
import { withStore } from "./with-store.ts";

const options = { json: { type: "boolean" }, format: { type: "string" } } as const;

export function importPets(words: string[]): Promise<number> {
  return withStore(words, options, ["FILE"], async ({ flags, rest, store }) => {
    const file = rest[0]!;
    const rows = readRows(readText(file), formatOf(file, flags.format), petColumns);
    const records = batches(rows, ({ line, fields }) => toPetRecord(line, fields));
    return report(
      "pets",
      await store.catalogue.importPets(records, `import of ${file}`),
      flags.json,
    );
  });
}

export function importOrders(words: string[]): Promise<number> {
  return withStore(words, options, ["FILE"], async ({ flags, rest, store }) => {
    const file = rest[0]!;
    const rows = readRows(readText(file), formatOf(file, flags.format), orderColumns);
    const records = batches(rows, ({ line, fields }) => toOrderRecord(line, fields));
    return report("orders", await store.catalogue.importOrders(records), flags.json);
  });
}

async function* batches<T>(
  rows: AsyncIterable<readonly Row[]>,
  read: (row: Row) => T,
): AsyncGenerator<readonly T[]> {
  const progress = createProgress();
  for await (const some of rows) {
    yield some.map(read);
    progress(some.length);
  }
  progress(0, true);
}

/** Counts on a terminal, and only there: a log file wants no carriage returns. */
function createProgress(): (rows: number, done?: boolean) => void {
  let total = 0;
  return (rows, done = false) => {
    total += rows;
    if (!process.stderr.isTTY) return;
    process.stderr.write(`\r${total.toLocaleString("en")} rows read${done ? "; applying\n" : ""}`);
  };
}

function report(what: string, imported: Imported, asJson: unknown): number {
  const { created, changed, unchanged } = imported;
  if (asJson) print(JSON.stringify(imported));
  else print(`Imported ${what}: ${created} new, ${changed} changed, ${unchanged} as they were.`);
  return 0;
}
