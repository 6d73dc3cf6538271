import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { request } from "../client/api.ts";
import { connection, heard, liveCursor } from "../client/live.ts";
import { session } from "../client/session.ts";
import type { LedgerRow } from "../client/types.ts";
import { announce, showSuccess } from "../page/messages.ts";
import { navigate, place } from "../page/router.ts";
import { formatCount } from "../texts/formats.ts";
import { type Batch, countChanges, Sending, toBatches } from "./batches.ts";
import {
  byTime,
  type Count,
  noCounts,
  readCounts,
  repeatMsMax,
  writeCounts,
} from "./count-storage.ts";
import { rowFilter, table, updateOrder } from "./state.ts";

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
/** When they were first sent, in milliseconds since 1970. */
const sentAt = signal(0);
export const countFilter = signal<CountFilter>("all");
/** How far the clock of the service is ahead of this one. */
export const clockDifferenceMs = signal(0);

/** The counts of entries that still exist. */
export const known = computed(() =>
  [...counts.value].filter(([petId]) => table.value.findRow(petId) !== undefined),
);

/** Those that differ from what was expected. */
export const differences = computed(() => known.value.filter(([, count]) => isDifferent(count)));

export function isDifferent({ counted, expected }: Count): boolean {
  return counted !== expected;
}

/** Counts after which the service has sent nothing yet. */
const uncertain = new Set<string>();
/** The search for the places of counts, while it is under way. */
let placing: Promise<void> | undefined;

export function recordCount(row: number, counted: number): void {
  const { ids, quantities, names, versions } = table.value;
  const expected = quantities[row]!;
  const cursor = liveCursor();
  // The page may already have a change of this pet that the feed brings in a moment.
  const atLeast = (seq: string) => String(Math.max(Number(seq), versions[row]!));
  uncertain.add(ids[row]!);
  setCount(ids[row]!, {
    counted,
    expected,
    at: Math.round(Date.now() + clockDifferenceMs.value),
    countedAt: cursor?.replace(/\d+$/, atLeast),
    isCertain: false,
    isOffline: cursor === undefined,
  });
  const difference = counted - expected;
  announce(`${names[row]}: ${counted}${difference === 0 ? "" : `, difference ${difference}`}`);
}

function setCount(petId: string, count: Count): void {
  counts.value = new Map(counts.value).set(petId, count);
}

function forgetCounts(petIds: readonly string[]): void {
  const next = new Map(counts.value);
  for (const petId of petIds) next.delete(petId);
  counts.value = next;
}

export function discardCounts(): void {
  batch(() => {
    counts.value = new Map();
    sending.clear();
  });
}

/** Changes the counts that nothing was sent after. */
function settle(change: (count: Count) => Count): void {
  const next = new Map(counts.peek());
  for (const petId of uncertain) {
    const count = next.get(petId);
    if (count) next.set(petId, change(count));
  }
  uncertain.clear();
  counts.value = next;
}

// What the service sends arrives in order, so a count before it has the right place in the ledger.
effect(() => {
  void heard.value;
  if (uncertain.size > 0 && connection.peek().kind === "live") {
    untracked(() => settle((count) => ({ ...count, isCertain: true })));
  }
});

// A connection may have been dead for a while before that is noticed. Then changes that happened before
// a count did not reach this page, and its place in the ledger is found by its time.
effect(() => {
  const { kind } = connection.value;
  if (kind === "live") void untracked(placeCounts);
  else if (uncertain.size > 0) {
    untracked(() => settle((count) => ({ ...byTime(count), isOffline: kind === "lost" })));
  }
});

/** Finds the place in the ledger of counts that have only a time. */
function placeCounts(): Promise<void> {
  placing ??= placeEach().finally(() => {
    placing = undefined;
  });
  return placing;
}

async function placeEach(): Promise<void> {
  for (;;) {
    const next = [...counts.value].find(([, { countedAt }]) => countedAt === undefined);
    if (!next || connection.value.kind !== "live") return;
    const [petId, count] = next;
    const until = new Date(count.at + 1).toISOString();
    const path = `/stock/${petId}/history?limit=1&until=${until}`;
    const found = await request<readonly LedgerRow[]>(path).catch(() => undefined);
    // The next connection, or applying the count, tries again.
    if (!found) return;
    if (counts.value.get(petId) !== count) continue;
    const { seq, after } = found[0] ?? { seq: 0, after: null };
    const expected = after?.quantity ?? count.expected;
    setCount(petId, { ...count, expected, countedAt: seq, isCertain: true });
  }
}

/**
 * Writes the counts into the ledger. Each one is what was there when it was typed: the service keeps
 * what was sold or delivered since.
 */
export async function applyCounts(reason: string, withMatches: boolean): Promise<void> {
  await placeCounts();
  const wanted = withMatches ? known.value : differences.value;
  if (wanted.some(([, { countedAt }]) => countedAt === undefined)) {
    sending.error.value =
      "Some counts were typed without a connection. Apply them when the connection is back.";
    return;
  }
  const changes = wanted.map(([petId, { counted: quantity, countedAt }]) => ({
    petId,
    quantity,
    countedAt: countedAt!,
    reason,
  }));
  sentAt.value = Date.now();
  await send(toBatches(changes));
}

/** Sends what is left after the connection was lost. Nothing is applied twice. */
export async function continueApplying(): Promise<void> {
  if (Date.now() - sentAt.value > repeatMsMax) {
    discardCounts();
    sending.error.value =
      "This count was sent too long ago to be sent again. Activity shows which changes were made. Count the other entries again.";
    return;
  }
  await send(sending.rest.value);
}

async function send(batches: readonly Batch[]): Promise<void> {
  const isSent = await sending.send(batches, ({ changes }) =>
    forgetCounts(changes.map(({ petId }) => petId)),
  );
  // Nothing of a refused batch was stored. The count that the message names has to be made again.
  const refused = /\(pet (-?\d+)\)/.exec(sending.error.value)?.[1];
  if (refused !== undefined) forgetCounts([refused]);
  if (!isSent) return;
  discardCounts();
  navigate("/stock");
  showSuccess(`The count is in the ledger: ${formatCount(countChanges(batches))} entries`);
}

// A reload, or a browser that is closed by mistake, loses no count.
effect(() => {
  const { value } = session;
  const keyId = value.kind === "in" ? value.session.operator.id : undefined;
  const stored = keyId === undefined ? noCounts : readCounts(keyId);
  uncertain.clear();
  batch(() => {
    counter.value = keyId;
    counts.value = new Map(stored.counts);
    sending.rest.value = stored.unfinished;
    sentAt.value = stored.sentAt;
    sending.error.value = "";
  });
  void untracked(placeCounts);
});

effect(() => {
  const stored = {
    counts: [...counts.value],
    unfinished: sending.rest.value,
    sentAt: sentAt.value,
  };
  if (counter.value !== undefined) writeCounts(counter.value, stored);
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
