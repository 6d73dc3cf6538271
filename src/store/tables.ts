import { auditColumns } from "./audit.ts";
import { madeColumns } from "./made.ts";
import { initialDetails, petTableColumns } from "./pet-rows.ts";
import * as rows from "./rows.ts";
import { webhookColumns } from "./webhook-rows.ts";

/** A table that both engines have, with the same columns under the same names. */
export interface Table {
  readonly name: string;
  readonly columns: string;
  /** The columns that contain bytes, which are never null. All others contain strings and integers. */
  readonly bytes?: readonly string[];
  /** The values of columns at the end that backups of earlier versions do not have. */
  readonly initial?: ReadonlyMap<string, unknown>;
  /** How rows are sorted, so that two stores with the same rows return the same sequence. */
  readonly order: string;
  /** Which rows are transferred; all if undefined. */
  readonly where?: string;
}

/**
 * Every table that is transferred to another store. A row's table comes after the tables that it
 * refers to.
 */
export const tables: readonly Table[] = [
  { name: "pets", columns: petTableColumns, order: "pet_id", initial: initialDetails },
  { name: "inventory", columns: rows.entryColumns, order: "pet_id" },
  { name: "ledger", columns: rows.storedLedgerColumns, order: "seq", bytes: ["hash"] },
  { name: "removed_pets", columns: "pet_id, version", order: "pet_id" },
  { name: "remembered_keys", columns: rows.rememberedColumns, order: "seq", bytes: ["records"] },
  { name: "orders", columns: rows.orderColumns, order: "id" },
  {
    name: "keys",
    columns: "id, name, plan, per_minute, per_day, scopes, created_at, expires_at, revoked_at",
    order: "id",
  },
  { name: "secrets", columns: "digest, key_id, created_at, expires_at", order: "digest" },
  {
    name: "usage",
    columns: rows.usageColumns,
    order: "key_id",
    // PostgreSQL also has rows of keys that were never used.
    where: "last_used_at > 0",
  },
  { name: "epochs", columns: "number, epoch, from_seq", order: "number" },
  { name: "bans", columns: rows.banColumns, order: "key_id, started_at" },
  { name: "audit", columns: `seq, ${auditColumns}`, order: "seq" },
  { name: "usage_points", columns: rows.pointColumns, order: "key_id, step, start" },
  // Without the lease, which belongs to a process of the other store.
  { name: "webhooks", columns: webhookColumns, order: "created_at, id" },
  { name: "made", columns: madeColumns, order: "digest" },
];

/** Read to verify a store, but not transferred: every store has its own head. */
const head: Table = { name: "head", columns: "environment, epoch, keys_version", order: "id" };

/** Rows read or written at a time. */
export const batchRows = 5_000;

/** A placeholder for each column of a list, for `VALUES (…)`. */
export function placeholders(columns: string): string {
  return columns
    .split(",")
    .map(() => "?")
    .join();
}

/** Whether a store contains any data. A new store does not. */
export const anyRow = `SELECT EXISTS (SELECT 1 FROM ledger) OR EXISTS (SELECT 1 FROM pets)
  OR EXISTS (SELECT 1 FROM keys) OR EXISTS (SELECT 1 FROM orders)
  OR EXISTS (SELECT 1 FROM webhooks)`;

/** Selects the rows of a table in its order. `storedIn` is its name in the engine. */
export function selectAll(name: string, storedIn = name, fromSeq?: number): string {
  const {
    columns,
    order,
    where = "true",
  } = [...tables, head].find((table) => table.name === name)!;
  const from = fromSeq !== undefined && order === "seq" ? `AND seq >= ${fromSeq}` : "";
  return `SELECT ${columns} FROM ${storedIn} WHERE ${where} ${from} ORDER BY ${order}`;
}
