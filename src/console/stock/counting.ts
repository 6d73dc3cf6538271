import { batch, computed, effect, signal } from "@preact/signals";
import { session } from "../client/session.ts";
import { announce, showSuccess } from "../page/messages.ts";
import { navigate, place } from "../page/router.ts";
import { formatCount } from "../texts/formats.ts";
import { type Batch, countChanges, Sending, toBatches } from "./batches.ts";
import { type Count, noCounts, readCounts, repeatMsMax, writeCounts } from "./count-storage.ts";
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
const counter = signal<string | undefined>(undefined);
export const counts = signal<ReadonlyMap<string, Count>>(new Map());
/** The changes of the count, on their way to the ledger. */
export const sending = new Sending();
/** When they were first sent, in milliseconds since 1970. */
const sentAt = signal(0);
export const countFilter = signal<CountFilter>("all");

/** The counts of entries that still exist. */
const known = computed(() =>
  [...counts.value].filter(([petId]) => table.value.findRow(petId) !== undefined),
);

/** Those that differ from what was expected. */
export const differences = computed(() => known.value.filter(([, count]) => isDifferent(count)));

function isDifferent({ counted, expected }: Count): boolean {
  return counted !== expected;
}

export function recordCount(row: number, counted: number): void {
  const { ids, quantities, names } = table.value;
  const expected = quantities[row]!;
  counts.value = new Map(counts.value).set(ids[row]!, { counted, expected });
  const difference = counted - expected;
  announce(`${names[row]}: ${counted}${difference === 0 ? "" : `, difference ${difference}`}`);
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

/**
 * Writes the differences into the ledger. Each one is added to the quantity of this moment, because
 * pets may have been sold since they were counted.
 */
export async function applyCounts(reason: string, withMatches: boolean): Promise<void> {
  const entries = table.value;
  const wanted = withMatches ? known.value : differences.value;
  const changes = wanted.map(([petId, { counted, expected }]) => ({
    petId,
    delta: counted - expected,
    reason,
  }));
  const impossible = changes
    .filter(({ petId, delta }) => entries.quantities[entries.findRow(petId)!]! + delta < 0)
    .map(({ petId }) => petId);
  if (impossible.length > 0) {
    forgetCounts(impossible);
    sending.error.value = `${formatCount(impossible.length)} entries changed too much since they were counted. Count them again: ${impossible.slice(0, 5).join(", ")}.`;
    return;
  }
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
