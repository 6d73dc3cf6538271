import type { AuditFilter, AuditRow, AuditStore } from "./audit.ts";
import { rowsExaminedMax } from "./history.ts";

export interface AuditPage {
  readonly rows: readonly AuditRow[];
  /** Where the next page starts. Undefined after the oldest row. */
  readonly nextBefore: number | undefined;
}

/** One page of the log, the newest row first. Without a filter it is full, except the last. */
export async function listAudit(
  { audit }: { readonly audit: Pick<AuditStore, "listEntries"> },
  { before, ...filter }: Omit<AuditFilter, "after">,
  limit: number,
): Promise<AuditPage> {
  const [newest] = await audit.listEntries({}, 1);
  if (!newest) return { rows: [], nextBefore: undefined };
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const end = Math.min(before ?? Infinity, newest.seq + 1);
  // No index finds rows by their other columns, so a page with a filter may have few rows or none.
  const after = isFiltered ? Math.max(0, end - 1 - rowsExaminedMax) : 0;
  // One more than requested shows whether there is a next page.
  const found = await audit.listEntries({ ...filter, after, before: end }, limit + 1);
  const rows = found.slice(0, limit);
  if (found.length > limit) return { rows, nextBefore: rows.at(-1)!.seq };
  return { rows, nextBefore: after > 0 ? after + 1 : undefined };
}
