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

/** The API examines this many rows for one page. */
const rowsExaminedMax = 10_000;
const pageRowsMax = 1_000;
/** With a rare key or cause, the search stops here and the person decides whether to go on. */
const requestsMax = 12;

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

/** Returns about `count` changes that match: the newest ones of a range. */
export async function listOlder(
  filter: ChangeFilter,
  { low, high }: LedgerRange,
  count: number,
  signal: AbortSignal,
): Promise<OlderChanges> {
  if (filter.petId !== "") return listOlderOfPet(filter, { low, high }, count, signal);
  const isNarrow = filter.keyId !== "" || filter.cause !== "";
  const rows: LedgerRow[] = [];
  let end = high;
  let size = isNarrow ? pageRowsMax : count;
  for (
    let requests = 0;
    requests < requestsMax && rows.length < count && end > low;
    requests += 1
  ) {
    const after = Math.max(low - 1, end - 1 - size);
    const found = await listRange(filter, after, end, signal);
    rows.push(...found.reverse());
    end = after + 1;
    size = Math.min(rowsExaminedMax, size * 2);
  }
  return { rows, before: end };
}

/** All changes that match between two rows, without these, oldest first. */
async function listRange(
  { keyId, cause }: ChangeFilter,
  after: number,
  before: number,
  signal: AbortSignal,
): Promise<LedgerRow[]> {
  const query = new URLSearchParams({ after: `${after}`, before: `${before}` });
  query.set("limit", `${pageRowsMax}`);
  if (keyId !== "") query.set("key", keyId);
  if (cause !== "") query.set("cause", cause);
  const rows: LedgerRow[] = [];
  let path: string | undefined = `/changes?${query}`;
  while (path !== undefined) {
    const page: PageOf<LedgerRow> = await requestPage(path, signal);
    rows.push(...page.items);
    path = page.next;
  }
  return rows;
}

/** The history of a pet is listed newest first. The other filters are applied here. */
async function listOlderOfPet(
  filter: ChangeFilter,
  { low, high }: LedgerRange,
  count: number,
  signal: AbortSignal,
): Promise<OlderChanges> {
  const rows: LedgerRow[] = [];
  let before = high;
  for (let requests = 0; requests < requestsMax && rows.length < count; requests += 1) {
    const query = new URLSearchParams({
      before: `${before}`,
      after: `${low - 1}`,
      limit: `${count}`,
    });
    const path = `/stock/${filter.petId}/history?${query}`;
    const page = await requestPage<LedgerRow>(path, signal).catch(noHistory);
    rows.push(...page.items.filter((row) => matchesFilter(filter, row)));
    before = page.items.at(-1)?.seq ?? low;
    if (page.next === undefined) return { rows, before: low };
  }
  return { rows, before };
}

/** A pet that never existed has no changes. */
function noHistory(error: unknown): PageOf<LedgerRow> {
  if (error instanceof ApiError && error.status === 404) return { items: [], next: undefined };
  throw error;
}
