import { banColumns, entryColumns, ledgerColumns, orderColumns, usageColumns } from "./rows.ts";

/**
 * What a store holds and another can take over, in an order in which no row comes before one it
 * refers to. Both engines have these columns under the same names.
 */
export interface Table {
  readonly name: string;
  readonly columns: string;
  /** The order rows are read in, so that two stores with the same rows give the same sequence. */
  readonly order: string;
  /** Which rows count; all unless given. */
  readonly where?: string;
}

export const tables: readonly Table[] = [
  { name: "pets", columns: "pet_id, name, category, tags, photo_urls", order: "pet_id" },
  { name: "inventory", columns: entryColumns, order: "pet_id" },
  { name: "ledger", columns: ledgerColumns, order: "seq" },
  { name: "orders", columns: orderColumns, order: "id" },
  {
    name: "keys",
    columns: "id, name, plan, per_minute, per_day, scopes, created_at, expires_at, revoked_at",
    order: "id",
  },
  { name: "secrets", columns: "digest, key_id, created_at, expires_at", order: "digest" },
  {
    name: "usage",
    columns: usageColumns,
    order: "key_id",
    // Nobody keeps counts of a key that was never used.
    where: "last_used_at > 0",
  },
  { name: "epochs", columns: "number, epoch, from_seq", order: "number" },
  { name: "bans", columns: banColumns, order: "key_id, started_at" },
];

/** Read when a store is verified, but not carried over: every store has a head of its own. */
const head: Table = { name: "head", columns: "environment, epoch, keys_version", order: "id" };

/** Rows read or written at a time. */
export const batchRows = 5_000;

/** A placeholder for each column of a list. */
export function placeholders(columns: string): string {
  return columns
    .split(",")
    .map(() => "?")
    .join();
}

/** Tells whether a store has anything in it; a store just made has not. */
export const anyRow = `SELECT EXISTS (SELECT 1 FROM ledger) OR EXISTS (SELECT 1 FROM pets)
  OR EXISTS (SELECT 1 FROM keys) OR EXISTS (SELECT 1 FROM orders)`;

/** Reads all that counts of a table, in its order; an engine may keep it under another name. */
export function selectAll(name: string, storedIn = name): string {
  const {
    columns,
    order,
    where = "true",
  } = [...tables, head].find((table) => table.name === name)!;
  return `SELECT ${columns} FROM ${storedIn} WHERE ${where} ORDER BY ${order}`;
}
