import { int64Max, int64Min } from "../domain/values/int64.ts";
import type { StoredRow } from "../domain/verification/store.ts";
import { type Table, tables } from "../store/tables.ts";

/** A table as a backup has it. */
export interface BackupTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** Whether each column has bytes, which are written in hexadecimal digits. */
  readonly isBytes: readonly boolean[];
  /** The values of columns that the file may lack. */
  readonly initial: ReadonlyMap<string, unknown>;
}

export const backupTables: readonly BackupTable[] = tables.map(toBackupTable);

/** In backups of 0.15.0 and 0.16.0, before this table. It says where the chain of hashes begins: at row 1. */
const chain = toBackupTable({ name: "chain", columns: "id, from_seq, hash" });
const afterChain = "remembered_keys";

/** Not in backups of 0.15.0 to 0.17.0. */
const addedTable = "made";

/** The tables that a backup with these row counts must have, in order. */
export function tablesFor(rows: Readonly<Record<string, number>>): readonly BackupTable[] {
  const known = backupTables.filter(({ name }) => name !== addedTable || name in rows);
  if (!(chain.name in rows)) return known;
  return known.flatMap((table) => (table.name === afterChain ? [chain, table] : [table]));
}

function toBackupTable({
  name,
  columns,
  bytes = [],
  initial = new Map(),
}: Omit<Table, "order">): BackupTable {
  const names = columns.split(",").map((column) => column.trim());
  const isBytes = names.map((column) => bytes.includes(column));
  return { name, columns: names, isBytes, initial };
}

/** The line before the rows of a table. */
export function tableLine({ name, columns }: BackupTable): string {
  return JSON.stringify({ table: name, columns });
}

/**
 * The values to add to each row of a table that starts with this line: those of columns that the file
 * does not have. Undefined if the line belongs to another table.
 */
export function missingValues(table: BackupTable, line: string | undefined): unknown[] | undefined {
  if (line === tableLine(table)) return [];
  const last = table.columns.at(-1)!;
  if (!table.initial.has(last)) return undefined;
  const values = missingValues({ ...table, columns: table.columns.slice(0, -1) }, line);
  return values && [...values, table.initial.get(last)];
}

/** The line after the rows of a table. */
export function endLine({ name }: BackupTable, rows: number): string {
  return JSON.stringify({ end: name, rows });
}

/** One row as a JSON array. 64-bit integers keep all digits. */
export function rowLine(row: StoredRow): string {
  let text = "[";
  for (let index = 0; index < row.length; index++) {
    if (index > 0) text += ",";
    text += valueText(row[index]);
  }
  return `${text}]`;
}

function valueText(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Uint8Array) return `"${Buffer.from(value).toString("hex")}"`;
  // Null and integers of any size. Booleans do not occur: SQLite has none.
  return String(value);
}

/** Reads a line that `rowLine` wrote, and adds `missing`. Returns undefined for any other line. */
export function parseRow(
  { isBytes }: BackupTable,
  missing: readonly unknown[],
  line: string,
): StoredRow | undefined {
  const values = parseArray(line, isBytes.length - missing.length);
  if (!values) return undefined;
  values.push(...missing);
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    if (isBytes[index]) {
      const bytes = parseHex(value);
      if (!bytes) return undefined;
      values[index] = bytes;
    } else if (value === null || typeof value === "string") continue;
    else if (typeof value === "bigint") {
      if (value < int64Min || value > int64Max) return undefined;
    } else if (!Number.isSafeInteger(value)) return undefined;
  }
  return values;
}

function parseArray(line: string, length: number): unknown[] | undefined {
  try {
    const values: unknown = JSON.parse(line);
    if (!Array.isArray(values) || values.length !== length) return undefined;
    const isExact = values.every(
      (value) => typeof value !== "number" || Number.isSafeInteger(value),
    );
    // Reading the digits of every number would take several times as long.
    return isExact ? values : (JSON.parse(line, toExact) as unknown[]);
  } catch {
    return undefined;
  }
}

function toExact(_key: string, value: unknown, context?: { source: string }): unknown {
  const isLong = typeof value === "number" && !Number.isSafeInteger(value);
  return isLong && /^-?[0-9]{1,19}$/.test(context!.source) ? BigInt(context!.source) : value;
}

function parseHex(value: unknown): Uint8Array | undefined {
  if (typeof value !== "string" || !/^(?:[0-9a-f]{2})*$/.test(value)) return undefined;
  return Buffer.from(value, "hex");
}
