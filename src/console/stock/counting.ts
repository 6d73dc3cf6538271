import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { request } from "../client/api.ts";
import { connection, lastHeard, listen } from "../client/live.ts";
import { session } from "../client/session.ts";
import type { LedgerRow } from "../client/types.ts";
import { announce, showSuccess } from "../page/messages.ts";
import { navigate, place } from "../page/router.ts";
import { formatCount } from "../texts/formats.ts";
import { type Batch, countChanges, Sending, toBatches } from "./batches.ts";
import { type Count, noCounts, readCounts, repeatMsMax, writeCounts } from "./count-storage.ts";
import { loadState, rowFilter, table, updateOrder } from "./state.ts";

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
/** How far the clock of the service is ahead of this one. NaN as long as that is not known. */
export const clockDifferenceMs = signal(Number.NaN);

/** The counts of entries that still exist. */
export const known = computed(() =>
  [...counts.value].filter(([petId]) => table.value.findRow(petId) !== undefined),
);

/** Those that differ from what was expected. */
export const differences = computed(() => known.value.filter(([, count]) => isDifferent(count)));

export function isDifferent({ counted, expected }: Count): boolean {
  return counted !== expected;
}

export function recordCount(row: number, counted: number): void {
  const { ids, quantities, names, versions } = table.value;
  const expected = quantities[row]!;
  const { cursor, isFresh } = lastHeard();
  setCount(ids[row]!, {
    counted,
    expected,
    countedAt: cursor ?? versions[row]!,
    at: Math.round(Date.now() + clockDifferenceMs.value) || undefined,
    isOffline: !isFresh,
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

// A change may arrive late. If it was stored before a count, it belongs to what was expected.
listen({
  rows(rows) {
    for (const { petId, at, after } of rows) {
      const count = counts.peek().get(petId);
      if (count?.at && after && Date.parse(at) <= count.at) {
        setCount(petId, { ...count, expected: after.quantity });
      }
    }
  },
  reset: () => undefined,
});

/** Asks what was expected at the counts before which the page may not have heard of changes. */
async function findExpected(): Promise<void> {
  for (const [petId, count] of known.value) {
    if (!count.isOffline || !count.at) continue;
    const until = new Date(count.at + 1).toISOString();
    const path = `/stock/${petId}/history?limit=1&until=${until}`;
    const [last] = await request<readonly LedgerRow[]>(path);
    if (last?.after && counts.value.get(petId) === count) {
      setCount(petId, { ...count, expected: last.after.quantity });
    }
  }
}

effect(() => {
  if (connection.value.kind === "live" && loadState.value.kind === "ready") {
    // Applying the counts tries again.
    void untracked(findExpected).catch(() => undefined);
  }
});

/**
 * Writes the counts into the ledger. Each one is what was there when it was typed: the service keeps
 * what was sold or delivered since.
 */
export async function applyCounts(reason: string, withMatches: boolean): Promise<void> {
  await findExpected();
  const wanted = withMatches ? known.value : differences.value;
  const changes = wanted.map(([petId, { counted: quantity, countedAt, at }]) => ({
    petId,
    quantity,
    countedAt,
    ...(at && { countedTime: new Date(at).toISOString() }),
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
  batch(() => {
    counter.value = keyId;
    counts.value = new Map(stored.counts);
    sending.rest.value = stored.unfinished;
    sentAt.value = stored.sentAt;
    sending.error.value = "";
  });
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
