import type { Faults } from "./faults.ts";
import type { RowsOf, StoredRow } from "./store.ts";

/** How faults name a row of each table. */
const labels = {
  ledger: ([seq]) => `ledger row ${seq}`,
  remembered_keys: ([seq]) => `keys of ledger row ${seq}`,
  inventory: ([petId]) => `entry of pet ${petId}`,
  removed_pets: ([petId]) => `removal of pet ${petId}`,
  pets: ([petId]) => `pet ${petId}`,
  orders: ([id]) => `order ${id}`,
  keys: ([id]) => `key ${id}`,
  // Eight digits identify a secret, and a whole digest does not fit on a line.
  secrets: ([digest]) => `secret ${String(digest).slice(0, 8)}…`,
  usage: ([keyId]) => `usage of key ${keyId}`,
  usage_points: ([keyId, step, start]) => `usage of key ${keyId}, ${step} ${start}`,
  epochs: ([number]) => `epoch ${number}`,
  audit: ([seq]) => `audit row ${seq}`,
  bans: ([keyId]) => `ban of key ${keyId}`,
  webhooks: ([id]) => `webhook ${id}`,
} satisfies Record<string, (row: StoredRow) => string>;

type TableName = keyof typeof labels;

/** Records a fault of the row that is being checked. */
export type Note = (found: string, expected: string) => void;

/** The tables that are checked, and where their faults are noted. */
export interface Tables {
  readonly rowsOf: RowsOf;
  readonly faults: Faults;
}

/** Returns the function that records faults of a row. */
export function noteFor({ faults }: Tables, table: TableName, row: StoredRow): Note {
  return (found, expected) => faults.note(labels[table](row), found, expected);
}

/** Checks every row of a table, and returns their number. */
export async function checkRows(
  tables: Tables,
  table: TableName,
  check: (row: StoredRow, note: Note) => void,
): Promise<number> {
  let count = 0;
  for await (const batch of tables.rowsOf(table)) {
    for (const row of batch) check(row, noteFor(tables, table, row));
    count += batch.length;
  }
  return count;
}
