import { isStoredFilter } from "../webhooks/terms.ts";
import { shown } from "./faults.ts";
import { checkRows, type Tables } from "./rows.ts";

/** Checks that epochs are unique, begin one after the other, and not after the ledger's end. */
export async function checkEpochs(tables: Tables, lastSeq: number): Promise<void> {
  const known = new Set<unknown>();
  let lastStart = 0;
  await checkRows(tables, "epochs", (row, note) => {
    const [epoch, start] = [row[1], Number(row[2])];
    if (known.has(epoch)) note(`${shown(epoch)} exists twice`, "one epoch");
    if (start < lastStart) {
      note(`from_seq is ${start}`, `${lastStart} or more, as in the epoch before it`);
    }
    if (start > lastSeq) note(`from_seq is ${start}`, `at most ${lastSeq}, the last ledger row`);
    known.add(epoch);
    lastStart = start;
  });
}

/** Checks filters, and that no webhook has delivered a row that the ledger does not have. */
export async function checkWebhooks(tables: Tables, lastSeq: number): Promise<void> {
  await checkRows(tables, "webhooks", (row, note) => {
    if (!isStoredFilter(row[3] as string)) note(`filter is ${shown(row[3])}`, "a valid filter");
    const seq = Number(row[13]);
    if (seq > lastSeq) note(`cursor's seq is ${seq}`, `at most ${lastSeq}, the last ledger row`);
  });
}
