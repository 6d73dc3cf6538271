import { allKeys, type Step, startOf, steps, withoutKey } from "../usage/usage-history.ts";
import { checkColumns } from "./columns.ts";
import type { Faults } from "./faults.ts";
import { checkKey } from "./keys.ts";
import type { RowsOf, StoredRow } from "./store.ts";

const where = ([keyId, step, start]: StoredRow) => `usage of key ${keyId}, ${step} ${start}`;

/** Checks that every count belongs to a key, and starts where its minute or day does. */
export async function checkUsageHistory(
  rowsOf: RowsOf,
  keyIds: ReadonlySet<unknown>,
  faults: Faults,
): Promise<void> {
  const known = new Set([...keyIds, allKeys, withoutKey]);
  for await (const batch of rowsOf("usage_points")) {
    for (const row of batch) {
      checkColumns("usage_points", row, where, faults);
      checkKey(row[0], known, row, where, faults);
      const [step, start] = [row[1] as Step, Number(row[2])];
      if (!steps.includes(step)) continue;
      const expected = startOf(step, start);
      if (start !== expected) faults.note(where(row), `start is ${start}`, `${expected}`);
    }
  }
}
