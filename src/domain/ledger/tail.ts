import { every, whileAvailable } from "../running/background.ts";
import type { MaybePromise } from "../running/clock.ts";
import { unavailable } from "../running/errors.ts";
import type { Log } from "../running/events.ts";
import type { Cursor } from "./cursors.ts";
import { type EpochStart, isInHistory, type Position, positionOf } from "./epochs.ts";
import type { HeadWatcher } from "./head.ts";
import type { LedgerRow, NamedRow } from "./ledger.ts";
import type { Head, LedgerParts } from "./store.ts";

/**
 * Reads new rows of the ledger for the feed and the webhooks. It knows the last row, keeps rows in
 * memory that several readers need, and notices when the store was replaced by one with another
 * history.
 */
export interface LedgerTail {
  /** The last row that is known to be committed. */
  readonly seq: number;
  /** The position of a row up to `seq`, or of the start of the ledger. */
  positionAt(seq: number): Position;
  /** Whether the rows up to this position are part of the ledger. */
  includes(position: Position): boolean;
  /**
   * Where a reader with this cursor continues; without one, at the end. Reads the head, so it
   * includes every commit that returned before the call. If the cursor belongs to another history,
   * `isReset` is true and the reader continues at the end.
   */
  locate(cursor?: Cursor): Promise<{ readonly position: Position; readonly isReset: boolean }>;
  /**
   * Up to `pageRows` rows after `after`, in order and without a gap. Empty if there are none, and
   * while it is not certain which history the store has. Subscribers are told when to try again.
   * All readers share the rows.
   */
  rowsAfter(after: number): MaybePromise<readonly NamedRow[]>;
  subscribe(subscriber: TailSubscriber): void;
  stop(): void;
}

export interface TailSubscriber {
  /** There are rows after the ones that were known. */
  rowsAdded(): void;
  /** The store was replaced or promoted. Every reader checks its last position with `includes`. */
  historyChanged(): void;
}

/** Rows in one page: less than a millisecond of work, and tens of kilobytes as JSON. */
export const pageRows = 128;

/** Pages kept in memory, for readers that are behind. */
const pagesMax = 128;

/** How soon the history is read again after a failure. */
const retryEveryMs = 250;

export async function followTail(
  { inventory, history: ledger }: Pick<LedgerParts, "inventory" | "history">,
  watcher: Pick<HeadWatcher, "readHead" | "cachedHead" | "subscribe">,
  log: Log,
): Promise<LedgerTail> {
  let known: Position = { epoch: "", seq: 0 };
  /** The last head that was read. `known` also includes what this process has committed since. */
  let lastRead = known;
  let epochs: readonly EpochStart[] = [];
  /** Pages by number, the most recently used last. Page n begins with row n * pageRows + 1. */
  const pages = new Map<number, NamedRow[]>();
  const loading = new Map<number, Promise<void>>();
  /** Incremented when the history is read again. A page whose read began before that is not used. */
  let generation = 0;
  /** True from the first sign that the store was replaced until its history has been read. */
  let isUncertain = true;
  let refreshing: Promise<void> | undefined;
  const subscribers: TailSubscriber[] = [];

  function refresh(): Promise<void> {
    isUncertain = true;
    // Deferred, because reading the head may announce it, which calls this function again.
    refreshing ??= Promise.resolve()
      .then(readHistory)
      .finally(() => {
        refreshing = undefined;
      });
    return refreshing;
  }

  async function readHistory(): Promise<void> {
    const head = await watcher.readHead();
    const found = await inventory.listEpochs();
    // The store was replaced between the two reads. The timer tries again.
    if (inventory.isOutdated(head.epoch)) return;
    generation += 1;
    pages.clear();
    loading.clear();
    epochs = found;
    known = { epoch: head.epoch, seq: head.seq };
    lastRead = known;
    isUncertain = false;
    for (const { historyChanged } of subscribers) historyChanged();
  }

  function advance(seq: number): void {
    if (isUncertain || seq <= known.seq) return;
    known = { epoch: known.epoch, seq };
    for (const { rowsAdded } of subscribers) rowsAdded();
  }

  function headMoved(head: Head): void {
    // If the seq is smaller than one that was read before in this epoch, rows were lost.
    if (head.epoch !== known.epoch || head.seq < lastRead.seq) void retry();
    else {
      lastRead = head;
      advance(head.seq);
    }
  }

  function rowsCommitted(rows: readonly LedgerRow[], epoch: string): void {
    if (epoch !== known.epoch) void retry();
    else advance(rows.at(-1)?.seq ?? 0);
  }

  /** The timer repeats a refresh that fails. */
  const retry = () => refresh().catch(() => {});

  async function load(number: number): Promise<void> {
    const started = generation;
    const page = pages.get(number) ?? [];
    const after = number * pageRows + page.length;
    const upTo = Math.min(known.seq, (number + 1) * pageRows);
    const { epoch } = known;
    const rows = await ledger.listRows({ after, upTo }, pageRows);
    if (generation !== started || isUncertain) return;
    // The rows may come from the server that replaced the one whose head is known.
    if (inventory.isOutdated(epoch)) return void retry();
    if (rows.length !== upTo - after || rows.at(-1)?.seq !== upTo) throw unavailable("damaged");
    page.push(...rows);
    keep(number, page);
  }

  /** Makes a page the most recently used one. */
  function keep(number: number, page: NamedRow[]): void {
    pages.delete(number);
    pages.set(number, page);
    if (pages.size > pagesMax) pages.delete(pages.keys().next().value!);
  }

  function cachedAfter(after: number): readonly NamedRow[] {
    const number = Math.floor(after / pageRows);
    const page = pages.get(number);
    const rows = page?.slice(after - number * pageRows) ?? [];
    if (page && rows.length > 0) keep(number, page);
    return rows;
  }

  function rowsAfter(after: number): MaybePromise<readonly NamedRow[]> {
    if (isUncertain || after >= known.seq) return [];
    const cached = cachedAfter(after);
    if (cached.length > 0) return cached;
    const number = Math.floor(after / pageRows);
    let running = loading.get(number);
    if (!running) {
      running = load(number).finally(() => {
        if (loading.get(number) === running) loading.delete(number);
      });
      loading.set(number, running);
    }
    return running.then(() => (isUncertain ? [] : cachedAfter(after)));
  }

  const positionAt = (seq: number): Position =>
    positionOf(epochs, seq) ?? { epoch: known.epoch, seq };
  const includes = (position: Position) => isInHistory(epochs, known.seq, position);

  // A store that cannot be read now is read later. Until then nothing is sent.
  await retry();
  watcher.subscribe({ headMoved, rowsCommitted });
  const stopRetrying = every(
    retryEveryMs,
    "reading the history of the store",
    log,
    whileAvailable(async () => {
      if (isUncertain) await refresh();
    }),
  );

  return {
    get seq() {
      return known.seq;
    },
    positionAt,
    includes,
    async locate(cursor) {
      // Reading a head that differs announces it, which may start a refresh.
      if (!watcher.cachedHead()) await watcher.readHead();
      await refreshing;
      if (isUncertain) throw unavailable("unreachable");
      const end = positionAt(known.seq);
      if (!cursor) return { position: end, isReset: false };
      const { epoch, seq } = cursor;
      const isKnown = epoch === undefined ? seq <= known.seq : includes({ epoch, seq });
      return { position: isKnown ? positionAt(seq) : end, isReset: !isKnown };
    },
    rowsAfter,
    subscribe(subscriber) {
      subscribers.push(subscriber);
    },
    stop: stopRetrying,
  };
}
