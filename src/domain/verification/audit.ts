import { checkColumns } from "./columns.ts";
import type { Faults } from "./faults.ts";
import { checkKey } from "./keys.ts";
import type { RowsOf, StoredRow } from "./store.ts";

const where = ([seq]: StoredRow) => `audit row ${seq}`;

/**
 * Checks that no row of the audit log is missing and that its times never decrease. A key that made a
 * change is never deleted.
 */
export async function checkAudit(
  rowsOf: RowsOf,
  keyIds: ReadonlySet<unknown>,
  faults: Faults,
): Promise<void> {
  let last = 0;
  let lastAt = 0;
  for await (const batch of rowsOf("audit")) {
    for (const row of batch) {
      const [seq, at] = [Number(row[0]), Number(row[1])];
      if (seq !== last + 1) faults.note(where(row), `follows row ${last}`, `row ${last + 1}`);
      if (at < lastAt) {
        faults.note(where(row), `at is ${at}`, `${lastAt} or later, as in row ${last}`);
      }
      [last, lastAt] = [seq, at];
      checkColumns("audit", row, where, faults);
      if (row[2] !== null) checkKey(row[2], keyIds, row, where, faults);
    }
  }
}
