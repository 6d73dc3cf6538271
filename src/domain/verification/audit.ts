import type { RowsOf, StoredRow } from "../ports.ts";
import { checkColumns } from "./columns.ts";
import type { Faults } from "./faults.ts";
import { checkKey } from "./keys.ts";

const where = ([seq]: StoredRow) => `audit row ${seq}`;

/** Checks the audit log. A key that made a change is never deleted. */
export async function checkAudit(
  rowsOf: RowsOf,
  keyIds: ReadonlySet<unknown>,
  faults: Faults,
): Promise<void> {
  for await (const batch of rowsOf("audit")) {
    for (const row of batch) {
      checkColumns("audit", row, where, faults);
      if (row[2] !== null) checkKey(row[2], keyIds, row, where, faults);
    }
  }
}
