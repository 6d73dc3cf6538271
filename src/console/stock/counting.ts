import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { request } from "../client/api.ts";
import { connection, lastHeard, listen } from "../client/live.ts";
import { session } from "../client/session.ts";
import type { LedgerRow } from "../client/types.ts";
import { announce, showError, showSuccess } from "../page/messages.ts";
import { navigate, place } from "../page/router.ts";
import { countOf } from "../texts/formats.ts";
import { Sending, toBatches } from "./batches.ts";
import { type Count, nameOf, readCounts, writeCounts } from "./count-storage.ts";
import { loadState, petNameOf, rowFilter, table, updateOrder } from "./state.ts";

/** Which entries to show, by their counts. */
const filters = {
  all: undefined,
  counted: (count?: Count) => count !== undefined,
  uncounted: (count?: Count) => count === undefined,
  different: (count?: Count) => count !== undefined && isDifferent(count),
};
export type CountFilter = keyof typeof filters;

/** True at /console/stock/count. */
export const isCounting = computed(() => place.value.path === "/stock/count");
/** The operator key that counts; undefined if nobody is signed in. */
export const counter = signal<string | undefined>(undefined);
export const counts = signal<ReadonlyMap<string, Count>>(new Map());
/** The changes of the count, on their way to the ledger. */
export const sending = new Sending();
export const countFilter = signal<CountFilter>("all");
/** How far the clock of the service is ahead of this one. NaN as long as that is not known. */
export const clockDifferenceMs = signal(Number.NaN);
/** False if the browser cannot store the counts. Then only this page has them. */
let isStored = true;

/** The counts of entries that still exist. */
export const known = computed(() =>
  [...counts.value].filter(([petId]) => table.value.findRow(petId) !== undefined),
);

/** Those that differ from what was expected. */
export const differences = computed(() => known.value.filter(([, count]) => isDifferent(count)));

export function isDifferent({ counted, expected }: Count): boolean {
  return counted !== expected;
}

/** A count that is typed now. */
export function countNow(row: number, counted: number): Count {
  const { quantities, versions } = table.value;
  const { cursor, isFresh } = lastHeard();
  const typedAt = Date.now();
  const at = Math.round(typedAt + clockDifferenceMs.value) || undefined;
  return {
    counted,
    expected: quantities[row]!,
    typedAt,
    at,
    countedAt: cursor ?? versions[row]!,
    isOffline: !isFresh,
    isChecked: isFresh && at !== undefined,
  };
}

/** When it was typed, by the clock of the service. NaN as long as that is not known. */
const timeOf = ({ at, typedAt }: Count) => at ?? Math.round(typedAt + clockDifferenceMs.value);

export function recordCount(row: number, count: Count): void {
  const { ids, names } = table.value;
  const { counted, expected } = count;
  change((next) => next.set(ids[row]!, count));
  const difference = counted - expected;
  announce(`${names[row]}: ${counted}${difference === 0 ? "" : `, difference ${difference}`}`);
}

/** Changes what is stored, not what this page shows: another window of the person may have counted since. */
function change(edit: (next: Map<string, Count>) => void): void {
  const next = new Map(isStored ? readCounts(counter.peek()) : counts.peek());
  edit(next);
  counts.value = next;
}

export function discardCounts(): void {
  change((next) => next.clear());
  sending.clear();
}

// A change may arrive late. If it was stored before a count, it belongs to what was expected.
listen({
  rows(rows) {
    const late = rows.filter(({ petId, at }) => {
      const count = counts.peek().get(petId);
      return count && Date.parse(at) <= timeOf(count);
    });
    if (late.length === 0) return;
    change((next) => {
      for (const { petId, after } of late) {
        const count = next.get(petId);
        if (count && after) next.set(petId, { ...count, expected: after.quantity });
      }
    });
  },
  reset: () => undefined,
});

const unchecked = computed(() =>
  known.value.find(([, count]) => !count.isChecked && timeOf(count) > 0),
);
let checking: Promise<void> | undefined;

/** Asks what was expected at the counts before which the page may not have heard of changes. */
async function findExpected(): Promise<void> {
  while (unchecked.value) {
    const [petId, asked] = unchecked.value;
    const until = new Date(timeOf(asked) + 1).toISOString();
    const path = `/stock/${petId}/history?limit=1&until=${until}`;
    const [last] = await request<readonly LedgerRow[]>(path);
    change((next) => {
      const count = next.get(petId);
      if (count?.typedAt !== asked.typedAt) return;
      const expected = last?.after?.quantity ?? asked.expected;
      next.set(petId, { ...count, expected, isChecked: true });
    });
  }
}

/** Applying the counts waits for a check that is under way. */
function checkCounts(): Promise<void> {
  checking ??= findExpected().finally(() => (checking = undefined));
  return checking;
}

effect(() => {
  const isReady = connection.value.kind === "live" && loadState.value.kind === "ready";
  // Applying the counts tries again.
  if (isReady && unchecked.value) void untracked(checkCounts).catch(() => undefined);
});

/** The service reads what has changed since the counts that it gets together, up to a limit. */
const countsAtOnce = 100;

/**
 * Writes the counts into the ledger. Each one is what was there when it was typed: the service keeps
 * what was sold or delivered since. The clock has to be known. After a lost connection, what is left is
 * applied again: a count that is applied twice changes nothing.
 */
export async function applyCounts(reason: string, withMatches: boolean): Promise<void> {
  await checkCounts();
  const reviewed = counts.value;
  /** False if the pet was counted again meanwhile. */
  const isReviewed = (petId: string, among = counts.value) =>
    among.get(petId)?.typedAt === reviewed.get(petId)?.typedAt;
  const forget = (petIds: readonly string[]) =>
    change((next) => {
      for (const petId of petIds) if (isReviewed(petId, next)) next.delete(petId);
    });
  const wanted = withMatches ? known.value : differences.value;
  const changes = wanted.map(([petId, count]) => ({
    petId,
    quantity: count.counted,
    countedAt: count.countedAt,
    countedTime: new Date(timeOf(count)).toISOString(),
    reason,
  }));
  const refused: string[] = [];
  let refusal = "";
  let isSent = false;
  for (let left = changes; ; left = left.filter(({ petId }) => isReviewed(petId))) {
    isSent = await sending.send(toBatches(left, countsAtOnce), (one) =>
      forget(one.changes.map(({ petId }) => petId)),
    );
    const failed = sending.failed.map(({ petId }) => petId);
    if (failed.length === 0) break;
    // Nothing of this batch was stored. What was refused has to be counted again.
    refused.push(...failed.map(petNameOf));
    refusal = sending.error.value;
    forget(failed);
  }
  if (refused.length > 0)
    sending.error.value = `Count again: ${refused.join(", ")}. ${refusal} ${sending.error.value}`;
  if (!isSent) return;
  // Late news may have made a difference of a match.
  const left = new Map(differences.value);
  forget([...reviewed.keys()].filter((petId) => !left.has(petId)));
  const stored = changes.length - refused.length;
  if (stored > 0) showSuccess(`The count is in the ledger: ${countOf(stored, "entry", "entries")}`);
  if (counts.value.size + refused.length === 0) navigate("/stock");
}

// A reload, or a browser that is closed by mistake, loses no count.
effect(() => {
  const { value } = session;
  const keyId = value.kind === "in" ? value.session.operator.id : undefined;
  if (keyId === counter.peek()) return;
  batch(() => {
    counter.value = keyId;
    counts.value = readCounts(keyId);
    sending.clear();
  });
});

// Another window of the same person has counted or applied.
window.addEventListener("storage", ({ key }) => {
  if (isStored && key === nameOf(counter.value)) counts.value = readCounts(counter.value);
});

effect(() => {
  if (counter.value === undefined) return;
  const wasStored = isStored;
  isStored = writeCounts(counter.value, counts.value);
  const text = "This browser cannot store more counts. Apply them before you close this page.";
  if (wasStored && !isStored) untracked(() => showError(text));
});

effect(() => {
  const kind = isCounting.value ? countFilter.value : "all";
  const isShown = filters[kind];
  const counted = counts.value;
  const { ids } = table.value;
  rowFilter.value = isShown && ((row) => isShown(counted.get(ids[row]!)));
});

/** Shows another part of the entries while counting. */
export function showCounts(filter: CountFilter): void {
  countFilter.value = filter;
  updateOrder();
}
