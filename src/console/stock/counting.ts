import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { request } from "../client/api.ts";
import { connection, lastHeard, listen } from "../client/live.ts";
import { operator } from "../client/session.ts";
import type { LedgerRow } from "../client/types.ts";
import { announce, showError, showSuccess } from "../page/messages.ts";
import { navigate, place } from "../page/router.ts";
import { readStoredJson, store } from "../page/storage.ts";
import { countOf } from "../texts/formats.ts";
import { Sending, toBatches } from "./batches.ts";
import { askLedgerEnd, clockDifferenceMs } from "./ledger-end.ts";
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
/** False if the browser cannot store the counts. Then only this page has them. */
let isStored = true;

/** The counts of entries that still exist. */
export const known = computed(() =>
  [...counts.value].filter(([petId]) => table.value.findRow(petId) !== undefined),
);

/** Those that differ from what was expected. */
export const differences = computed(() => known.value.filter(([, count]) => isDifferent(count)));

function isDifferent({ counted, expected }: Count): boolean {
  return counted !== expected;
}

/** A place that is told later than this may be after sales which the count does not include. */
const placeMsMax = 2_000;
/** The ends of the ledger that were asked for when counts were typed. */
const places = new WeakMap<Count, Promise<string | undefined>>();
/** Those that are not known yet, by the time of the count. Applying the counts waits for them. */
const placing = new Map<number, Promise<void>>();

/** A count that is typed now. How many there are follows when it is recorded. */
export function countNow(row: number): Count {
  const { quantities, versions } = table.value;
  const typedAt = Date.now();
  const at = Math.round(typedAt + clockDifferenceMs.value) || undefined;
  const countedAt = lastHeard() ?? versions[row]!;
  const expected = quantities[row]!;
  const count = { counted: expected, expected, typedAt, at, countedAt, isChecked: false };
  const asked = askLedgerEnd({}, AbortSignal.timeout(placeMsMax)).then(({ cursor }) => cursor);
  const place = asked.catch(() => undefined);
  places.set(count, place);
  return count;
}

/** When it was typed, by the clock of the ledger. NaN as long as that is not known, or if it places nothing. */
function timeOf({ at, typedAt }: Count): number {
  return at === null ? Number.NaN : (at ?? Math.round(typedAt + clockDifferenceMs.value));
}

/** The clocks of the ledger and of a device move apart by less than this in a day, unless one is set. */
const driftMsMax = 5_000;

/** True if the time of a count cannot place it: the ledger said so, or one of the clocks was set since. */
export function mustRepeat({ at, typedAt, isPlaced }: Count): boolean {
  if (isPlaced || at === undefined) return false;
  return at === null || Math.abs(at - typedAt - clockDifferenceMs.value) > driftMsMax;
}

/** The number of the row at a position. */
const seqOf = (position: string | number) => Number(/\d+$/.exec(`${position}`)![0]);

export function recordCount(row: number, made: Count, counted: number): void {
  const { ids, names } = table.value;
  const { expected, typedAt } = made;
  const petId = ids[row]!;
  const settled = places.get(made)!.then((end) => settle(petId, typedAt, end));
  placing.set(typedAt, settled);
  change((next) => next.set(petId, { ...made, counted }));
  const difference = counted - expected;
  announce(`${names[row]}: ${counted}${difference === 0 ? "" : `, difference ${difference}`}`);
}

/** Places a count at the end of the ledger. The page knows the expected stock if it has heard of all rows before. */
function settle(petId: string, typedAt: number, end: string | undefined): void {
  placing.delete(typedAt);
  change((next) => {
    const count = next.get(petId);
    if (count?.typedAt !== typedAt || end === undefined) return;
    const { quantities, versions } = table.value;
    const row = table.value.findRow(petId);
    const isChecked = lastHeard() === end && row !== undefined && versions[row]! <= seqOf(end);
    const expected = isChecked ? quantities[row]! : count.expected;
    next.set(petId, { ...count, expected, countedAt: end, isPlaced: true, isChecked });
  });
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
    const late = rows.filter(({ petId, seq, at }) => {
      const count = counts.peek().get(petId);
      if (count?.isPlaced) return seq <= seqOf(count.countedAt);
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
});

const unchecked = computed(() =>
  known.value.find(
    ([, count]) =>
      !count.isChecked && !placing.has(count.typedAt) && (count.isPlaced || timeOf(count) > 0),
  ),
);
let checking: Promise<void> | undefined;

/** Asks for the expected stock of counts if the page may have missed changes before them. */
async function findExpected(): Promise<void> {
  while (unchecked.value) {
    const [petId, asked] = unchecked.value;
    const before = `before=${seqOf(asked.countedAt) + 1}`;
    const until = () => `until=${new Date(timeOf(asked) + 1).toISOString()}`;
    const path = `/stock/${petId}/history?limit=1&${asked.isPlaced ? before : until()}`;
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

/** For counts that are sent together, the service reads the changes since then, up to a limit. */
const countsAtOnce = 100;

/**
 * Writes the counts into the ledger. Each is the stock when it was typed: the service keeps later sales
 * and deliveries. The clock has to be known. After a lost connection, the remaining counts are applied
 * again: a count that is applied twice changes nothing. A count that its time cannot place is kept.
 */
export async function applyCounts(reason: string, withMatches: boolean): Promise<void> {
  await Promise.all(placing.values());
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
  const refused = wanted.filter(([, count]) => mustRepeat(count)).map(([petId]) => petId);
  let refusal = "A clock was set since. Count again with a connection.";
  const placeable = wanted.filter(([, count]) => !mustRepeat(count));
  const changes = placeable.map(([petId, count]) => ({
    petId,
    quantity: count.counted,
    countedAt: count.countedAt,
    ...(!count.isPlaced && { countedTime: new Date(timeOf(count)).toISOString() }),
    reason,
  }));
  let stored = 0;
  let isSent = false;
  const isLeft = (petId: string) => isReviewed(petId) && !mustRepeat(counts.value.get(petId)!);
  for (let left = changes; ; left = left.filter(({ petId }) => isLeft(petId))) {
    isSent = await sending.send(toBatches(left, countsAtOnce), (one) => {
      stored += one.changes.length;
      forget(one.changes.map(({ petId }) => petId));
    });
    const failed = sending.failed.map(({ petId }) => petId);
    if (failed.length === 0) break;
    // Nothing of this batch was stored. The refused pets have to be counted again.
    refused.push(...failed);
    refusal = sending.error.value;
    forget(failed.filter((petId) => reviewed.get(petId)!.isPlaced));
    change((next) => {
      for (const petId of failed)
        if (isReviewed(petId, next)) next.set(petId, { ...next.get(petId)!, at: null });
    });
  }
  if (refused.length > 0)
    sending.error.value = `Count again: ${refused.map(petNameOf).join(", ")}. ${refusal} ${sending.error.value}`;
  if (!isSent) return;
  // Late news may have made a difference of a match.
  const left = new Map(differences.value);
  forget([...reviewed.keys()].filter((petId) => !left.has(petId)));
  if (stored > 0) showSuccess(`The count is in the ledger: ${countOf(stored, "entry", "entries")}`);
  if (counts.value.size + refused.length === 0) navigate("/stock");
}

// A reload, or a browser that is closed by mistake, loses no count.
effect(() => {
  const keyId = operator.value?.id;
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

/** What somebody counted, and what the store expected at that moment. */
export interface Count {
  readonly counted: number;
  readonly expected: number;
  /** When it was typed, by the clock of this device, in milliseconds since 1970. */
  readonly typedAt: number;
  /** The same by the clock of the ledger, if that was known. Null if the ledger cannot place it by its time. */
  readonly at?: number | null | undefined;
  /** The last position in the ledger that the page had heard of: a cursor, or the number of a row. */
  readonly countedAt: string | number;
  /** True if the ledger ended there, as the service said at once. Then the count needs no time. */
  readonly isPlaced?: boolean;
  /** False if `expected` may lack changes before the count: then the service has to be asked. */
  readonly isChecked: boolean;
}

/** Every operator key has its own counts. Production and staging can have the same host, but never the same key. */
function nameOf(keyId: string | undefined): string {
  return `petstore-counts-${keyId}`;
}

function readCounts(keyId: string | undefined): ReadonlyMap<string, Count> {
  return new Map(readStoredJson<[string, Count][]>(nameOf(keyId)));
}

/** Returns false if the browser cannot store them. */
function writeCounts(keyId: string, counts: ReadonlyMap<string, Count>): boolean {
  return store(nameOf(keyId), JSON.stringify([...counts])) || counts.size === 0;
}
