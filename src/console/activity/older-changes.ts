import { rowsExaminedMax } from "../../domain/values/bounds.ts";
import { ApiError, type PageOf, request, requestPage } from "../client/api.ts";
import type { LedgerRow } from "../client/types.ts";
import { type ChangeFilter, matchesFilter } from "./change-filter.ts";

// Reads the ledger from its end to its start. The API lists the whole ledger from its start to its
// end, so this asks for one range of rows after the other, the last range first.

export interface OlderChanges {
  /** Newest first. */
  readonly rows: readonly LedgerRow[];
  /** All changes from this number on were examined. */
  readonly before: number;
}

/** The part of the ledger in which to look: rows from `low` to `high` - 1. */
export interface LedgerRange {
  readonly low: number;
  readonly high: number;
}

const pageRowsMax = 1_000;
/** With a rare key, cause or request, the search stops here and the person decides whether to go on. */
const stepsMax = 12;

/** Finds the rows between the times of a filter. */
export async function rangeOf(
  { since, until }: ChangeFilter,
  signal: AbortSignal,
): Promise<LedgerRange> {
  const [head, low, high] = await Promise.all([
    request<{ readonly seq: number }>("/changes/head", { signal }),
    since === "" ? 1 : firstSince(since, signal),
    until === "" ? undefined : firstSince(until, signal),
  ]);
  return { low: low ?? head.seq + 1, high: high ?? head.seq + 1 };
}

async function firstSince(time: string, signal: AbortSignal): Promise<number | undefined> {
  const query = new URLSearchParams({ since: time, limit: "1" });
  const [first] = await request<readonly LedgerRow[]>(`/changes?${query}`, { signal });
  return first?.seq;
}

/** Returns about `rowsWanted` changes that match: the newest ones of a range. */
export async function listOlder(
  filter: ChangeFilter,
  { low, high }: LedgerRange,
  rowsWanted: number,
  signal: AbortSignal,
): Promise<OlderChanges> {
  const isNarrow = filter.keyId + filter.cause + filter.requestId + filter.session !== "";
  const rows: LedgerRow[] = [];
  let before = high;
  let size = isNarrow ? pageRowsMax : rowsWanted;
  for (let steps = 0; steps < stepsMax && rows.length < rowsWanted && before > low; steps += 1) {
    const found =
      filter.petId === ""
        ? await listRange(filter, { low: Math.max(low, before - size), high: before }, signal)
        : await listOfPet(filter, { low, high: before }, rowsWanted, signal);
    rows.push(...found.rows);
    before = found.before;
    // The rows of a request follow each other, so nothing of it comes before another row.
    if (filter.requestId !== "" && (rows.at(-1)?.seq ?? 0) > before) return { rows, before: low };
    size = Math.min(rowsExaminedMax, size * 2);
  }
  return { rows, before };
}

/** All changes of a range that match. */
async function listRange(
  filter: ChangeFilter,
  { low, high }: LedgerRange,
  signal: AbortSignal,
): Promise<OlderChanges> {
  const query = new URLSearchParams({ after: `${low - 1}`, before: `${high}` });
  query.set("limit", `${pageRowsMax}`);
  if (filter.keyId !== "") query.set("key", filter.keyId);
  if (filter.cause !== "") query.set("cause", filter.cause);
  const rows: LedgerRow[] = [];
  let path: string | undefined = `/changes?${query}`;
  while (path !== undefined) {
    const page: PageOf<LedgerRow> = await requestPage(path, signal);
    rows.push(...page.items.filter((row) => matchesFilter(filter, row)));
    path = page.next;
  }
  return { rows: rows.reverse(), before: low };
}

/** The history of a pet is listed newest first. The other filters are applied here. */
async function listOfPet(
  filter: ChangeFilter,
  { low, high }: LedgerRange,
  rowsWanted: number,
  signal: AbortSignal,
): Promise<OlderChanges> {
  const path = `/stock/${filter.petId}/history?before=${high}&after=${low - 1}&limit=${rowsWanted}`;
  const { items, next } = await requestPage<LedgerRow>(path, signal).catch(noHistory);
  const rows = items.filter((row) => matchesFilter(filter, row));
  return { rows, before: next === undefined ? low : items.at(-1)!.seq };
}

/** A pet that never existed has no changes. */
function noHistory(error: unknown): PageOf<LedgerRow> {
  if (error instanceof ApiError && error.status === 404) return { items: [], next: undefined };
  throw error;
}
