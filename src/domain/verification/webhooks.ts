import { checkColumns } from "./columns.ts";
import type { Faults } from "./faults.ts";
import type { RowsOf, StoredRow } from "./store.ts";

const where = ([id]: StoredRow) => `webhook ${id}`;

/** Checks that no webhook has delivered a row that the ledger does not have. */
export async function checkWebhooks(
  rowsOf: RowsOf,
  lastSeq: number,
  faults: Faults,
): Promise<void> {
  for await (const batch of rowsOf("webhooks")) {
    for (const row of batch) {
      checkColumns("webhooks", row, where, faults);
      const seq = Number(row[13]);
      if (seq <= lastSeq) continue;
      const expected = `at most ${lastSeq}, the last ledger row`;
      faults.note(where(row), `cursor's seq is ${seq}`, expected);
    }
  }
}
