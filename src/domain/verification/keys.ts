import { checkColumns } from "./columns.ts";
import { type Faults, shown } from "./faults.ts";
import type { RowsOf, StoredRow } from "./store.ts";

/**
 * Checks that each key has a secret, and that every secret, usage record and ban belongs to a key.
 * Returns the ids of all keys.
 */
export async function checkKeys(rowsOf: RowsOf, faults: Faults): Promise<ReadonlySet<unknown>> {
  const ids = new Set<unknown>();
  for await (const batch of rowsOf("keys")) {
    for (const row of batch) {
      checkColumns("keys", row, ([id]) => `key ${id}`, faults);
      ids.add(row[0]);
    }
  }
  const keysWithSecret = new Set<unknown>();
  // Eight digits identify a secret, and a whole digest does not fit on a line.
  const secretLabel = ([digest]: StoredRow) => `secret ${String(digest).slice(0, 8)}…`;
  for await (const batch of rowsOf("secrets")) {
    for (const row of batch) {
      checkColumns("secrets", row, secretLabel, faults);
      checkKey(row[1], ids, row, secretLabel, faults);
      keysWithSecret.add(row[1]);
    }
  }
  for (const id of ids) {
    if (!keysWithSecret.has(id)) faults.note(`key ${id}`, "has no secret", "at least one");
  }
  for (const [table, what] of [
    ["usage", "usage of key"],
    ["bans", "ban of key"],
  ] as const) {
    for await (const batch of rowsOf(table)) {
      for (const row of batch) {
        const where = () => `${what} ${row[0]}`;
        checkColumns(table, row, where, faults);
        checkKey(row[0], ids, row, where, faults);
      }
    }
  }
  return ids;
}

export function checkKey(
  id: unknown,
  ids: ReadonlySet<unknown>,
  row: StoredRow,
  where: (row: StoredRow) => string,
  faults: Faults,
): void {
  if (!ids.has(id)) faults.note(where(row), `there is no key ${shown(id)}`, "the id of a key");
}
