import { auditColumns } from "./audit.ts";
import { packedColumns, unpackUsage } from "./packed-usage.ts";
import { initialDetails, petTableColumns } from "./pet-rows.ts";
import {
  banColumns,
  entryColumns,
  orderColumns,
  pointColumns,
  type Row,
  rememberedColumns,
  storedLedgerColumns,
  usageColumns,
} from "./rows.ts";
import { webhookColumns } from "./webhook-rows.ts";

/** The columns of a table. Those in `bytes` contain bytes, all others strings and integers. */
export interface TableColumns {
  readonly name: string;
  readonly columns: string;
  readonly bytes?: readonly string[];
  /** The values of columns at the end that backups of earlier versions do not have. */
  readonly initial?: ReadonlyMap<string, unknown>;
}

/** A table that both engines have, with the same columns under the same names. */
export interface Table extends TableColumns {
  /** How rows are sorted, so that two stores with the same rows return the same sequence. */
  readonly order: string;
  /** Which rows are transferred; all if undefined. */
  readonly where?: string;
  /** The table that earlier versions had instead. Their backups still have it. */
  readonly former?: TableColumns & { readonly toRows: (row: Row) => readonly Row[] };
  /** The version that added the table. Backups of earlier versions do not have it. */
  readonly since?: string;
}

/**
 * Every table that is transferred to another store. A row's table comes after the tables that it
 * refers to.
 */
export const tables: readonly Table[] = [
  { name: "pets", columns: petTableColumns, order: "pet_id", initial: initialDetails },
  { name: "inventory", columns: entryColumns, order: "pet_id" },
  { name: "ledger", columns: storedLedgerColumns, order: "seq", bytes: ["hash"] },
  { name: "removed_pets", columns: "pet_id, version", order: "pet_id", since: "0.7.0" },
  { name: "chain", columns: "id, from_seq, hash", order: "id" },
  { name: "remembered_keys", columns: rememberedColumns, order: "seq", bytes: ["records"] },
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
    // PostgreSQL also has rows of keys that were never used.
    where: "last_used_at > 0",
  },
  { name: "epochs", columns: "number, epoch, from_seq", order: "number" },
  { name: "bans", columns: banColumns, order: "key_id, started_at" },
  { name: "audit", columns: `seq, ${auditColumns}`, order: "seq", since: "0.7.0" },
  {
    name: "usage_points",
    columns: pointColumns,
    order: "key_id, step, start",
    since: "0.10.0",
    former: {
      name: "usage_history",
      columns: packedColumns,
      bytes: ["counts"],
      toRows: unpackUsage,
    },
  },
  // Without the lease, which belongs to a process of the other store.
  { name: "webhooks", columns: webhookColumns, order: "created_at, id" },
];

/** Read to verify a store, but not transferred: every store has its own head. */
const head: Table = { name: "head", columns: "environment, epoch, keys_version", order: "id" };

/** What `petstore verify` expects of a table or trigger. */
export const expectedDefinition = "its definition in this version of petstore";

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
