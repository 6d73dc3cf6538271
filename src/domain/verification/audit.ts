import type { RowsOf, StoredRow } from "../ports.ts";
import { checkColumns } from "./columns.ts";
import type { Faults } from "./faults.ts";
import { checkKey } from "./keys.ts";

const where = ([seq]: StoredRow) => `audit row ${seq}`;

/** Checks that no row of the audit log is missing. A key that made a change is never deleted. */
export async function checkAudit(
  rowsOf: RowsOf,
  keyIds: ReadonlySet<unknown>,
  faults: Faults,
): Promise<void> {
  let last = 0;
  for await (const batch of rowsOf("audit")) {
    for (const row of batch) {
      const seq = Number(row[0]);
      if (seq !== last + 1) faults.note(where(row), `follows row ${last}`, `row ${last + 1}`);
      last = seq;
      checkColumns("audit", row, where, faults);
      if (row[2] !== null) checkKey(row[2], keyIds, row, where, faults);
    }
  }
}
