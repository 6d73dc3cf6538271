import { checkColumns } from "./columns.ts";
import { type Faults, shown } from "./faults.ts";
import type { RowsOf, StoredRow } from "./store.ts";

const where = ([number]: StoredRow) => `epoch ${number}`;

/** Checks that epochs are unique, begin one after the other, and not after the ledger's end. */
export async function checkEpochs(rowsOf: RowsOf, lastSeq: number, faults: Faults): Promise<void> {
  const known = new Set<unknown>();
  let lastStart = 0;
  for await (const batch of rowsOf("epochs")) {
    for (const row of batch) {
      checkColumns("epochs", row, where, faults);
      const [epoch, start] = [row[1], Number(row[2])];
      if (known.has(epoch)) faults.note(where(row), `${shown(epoch)} exists twice`, "one epoch");
      if (start < lastStart) {
        const expected = `${lastStart} or more, as in the epoch before it`;
        faults.note(where(row), `from_seq is ${start}`, expected);
      }
      if (start > lastSeq) {
        faults.note(where(row), `from_seq is ${start}`, `at most ${lastSeq}, the last ledger row`);
      }
      known.add(epoch);
      lastStart = start;
    }
  }
}
