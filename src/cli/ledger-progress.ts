import type { RowsOf, Snapshot } from "../domain/verification/store.ts";
import { createProgress } from "./progress.ts";

/**
 * Shows how much of the ledger was read. It is the longest table and the only one whose length is
 * known in advance.
 */
export async function withLedgerProgress<T>(
  label: string,
  { rowsOf, readTip }: Pick<Snapshot, "rowsOf" | "readTip">,
  work: (rowsOf: RowsOf) => Promise<T>,
): Promise<T> {
  const progress = createProgress(label, await lengthOf(readTip));
  async function* counted(table: string) {
    for await (const batch of rowsOf(table)) {
      yield batch;
      if (table === "ledger") progress.advance(batch.length);
    }
  }
  try {
    return await work(counted);
  } finally {
    progress.end();
  }
}

/** The length of a damaged ledger may be unknown. The work reports why. */
async function lengthOf(readTip: Snapshot["readTip"]): Promise<number | undefined> {
  try {
    return (await readTip()).seq;
  } catch {
    return undefined;
  }
}
