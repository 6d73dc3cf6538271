import {
  allKeys,
  type Span,
  slotAt,
  slotsOf,
  unpackCounts,
  withoutKey,
} from "../usage/usage-history.ts";
import { checkColumns } from "./columns.ts";
import type { Faults } from "./faults.ts";
import { checkKey } from "./keys.ts";
import type { RowsOf, StoredRow } from "./store.ts";

const where = ([keyId, span, start]: StoredRow) => `usage of key ${keyId}, ${span} ${start}`;

/** Checks that every row of counts belongs to a key, starts where its hour or month does, and is readable. */
export async function checkUsageHistory(
  rowsOf: RowsOf,
  keyIds: ReadonlySet<unknown>,
  faults: Faults,
): Promise<void> {
  const known = new Set([...keyIds, allKeys, withoutKey]);
  for await (const batch of rowsOf("usage_history")) {
    for (const row of batch) {
      checkColumns("usage_history", row, where, faults);
      checkKey(row[0], known, row, where, faults);
      const [span, start, counts] = [row[1] as Span, Number(row[2]), row[3]];
      if (slotsOf[span] === undefined) continue;
      const expected = slotAt(span, start).start;
      if (start !== expected) faults.note(where(row), `start is ${start}`, `${expected}`);
      if (counts instanceof Uint8Array && !unpackCounts(counts, span)) {
        faults.note(where(row), "counts cannot be read", `counts of ${slotsOf[span]} slots`);
      }
    }
  }
}
