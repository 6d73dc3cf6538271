import { every, whileAvailable } from "../running/background.ts";
import { andThen, type MaybePromise } from "../running/clock.ts";
import { unavailable } from "../running/errors.ts";
import type { Log } from "../running/events.ts";
import type { Cursor } from "./cursors.ts";
import { type EpochStart, isInHistory, type Position, positionOf } from "./epochs.ts";
import type { HeadWatcher } from "./head.ts";
import type { NamedRow, StockRow } from "./ledger.ts";
import type { Head, HistoryReader, LedgerParts } from "./store.ts";

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
  locate(cursor?: Cursor): Promise<Located>;
  /**
   * Up to `pageRows` rows after `after`, in order and without a gap. Empty if there are none, and
   * while it is not certain which history the store has. Subscribers are told when to try again.
   * All readers share the rows.
   */
  rowsAfter(after: number): MaybePromise<readonly NamedRow[]>;
  subscribe(subscriber: TailSubscriber): void;
  stop(): void;
}

export interface Located {
  readonly position: Position;
  readonly isReset: boolean;
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

/** What is known of the ledger. */
interface Known {
  head: Position;
  /** The last head that was read. `head` also includes what this process has committed since. */
  lastRead: Position;
  epochs: readonly EpochStart[];
  /** True from the first sign that the store was replaced until its history has been read. */
  isUncertain: boolean;
}

const nothing: Position = { epoch: "", seq: 0 };

export async function followTail(
  { inventory, history }: Pick<LedgerParts, "inventory" | "history">,
  watcher: Pick<HeadWatcher, "readHead" | "cachedHead" | "subscribe">,
  log: Log,
): Promise<LedgerTail> {
  const known: Known = { head: nothing, lastRead: nothing, epochs: [], isUncertain: true };
  const pages = createPages(history, isCurrent);
  let refreshing: Promise<void> | undefined;
  /** The last head that was announced, also while the history was read. */
  let announced: Head | undefined;
  const subscribers: TailSubscriber[] = [];

  function refresh(): Promise<void> {
    known.isUncertain = true;
    // Deferred, because reading the head may announce it, which calls this function again.
    refreshing ??= Promise.resolve()
      .then(readHistory)
      .finally(() => {
        refreshing = undefined;
      });
    return refreshing;
  }

  async function readHistory(): Promise<void> {
    const { epoch, seq } = await watcher.readHead();
    const epochs = await inventory.listEpochs();
    // The store was replaced between the two reads. The timer tries again.
    if (inventory.isOutdated(epoch)) return;
    pages.clear();
    const head = { epoch, seq };
    Object.assign(known, { head, lastRead: head, epochs, isUncertain: false });
    for (const { historyChanged } of subscribers) historyChanged();
    // The head may have moved since it was read, and is not announced again.
    if (announced) headMoved(announced);
  }

  /** If a refresh fails, the timer repeats it. */
  const retry = () => refresh().catch(() => {});

  function advance(seq: number): void {
    if (known.isUncertain || seq <= known.head.seq) return;
    known.head = { epoch: known.head.epoch, seq };
    for (const { rowsAdded } of subscribers) rowsAdded();
  }

  function headMoved(head: Head): void {
    announced = head;
    // If the seq is smaller than one that was read before in this epoch, rows were lost.
    if (head.epoch !== known.head.epoch || head.seq < known.lastRead.seq) void retry();
    else {
      known.lastRead = head;
      advance(head.seq);
    }
  }

  function rowsCommitted(rows: readonly StockRow[], epoch: string): void {
    if (epoch !== known.head.epoch) void retry();
    else advance(rows.at(-1)?.seq ?? 0);
  }

  /** False if rows that were just read may come from a server that replaced the known one. */
  function isCurrent(epoch: string): boolean {
    if (!known.isUncertain && inventory.isOutdated(epoch)) void retry();
    return !known.isUncertain;
  }

  watcher.subscribe({ headMoved, rowsCommitted });
  // If the store cannot be read now, it is read later. Until then nothing is sent.
  await retry();
  const reading = "reading the history of the store";
  const retryUncertain = async () => {
    if (known.isUncertain) await refresh();
  };

  return {
    get seq() {
      return known.head.seq;
    },
    positionAt: (seq) => positionIn(known, seq),
    includes: (position) => isInHistory(known.epochs, known.head.seq, position),
    async locate(cursor) {
      // Reading a head that differs announces it, which may start a refresh.
      if (!watcher.cachedHead()) await watcher.readHead();
      await refreshing;
      return locateIn(known, cursor);
    },
    rowsAfter(after) {
      if (known.isUncertain || after >= known.head.seq) return [];
      const rows = pages.after(after, known.head);
      return andThen(rows, (found) => (known.isUncertain ? [] : found));
    },
    subscribe(subscriber) {
      subscribers.push(subscriber);
    },
    stop: every(retryEveryMs, reading, log, whileAvailable(retryUncertain)),
  };
}

function positionIn({ epochs, head }: Known, seq: number): Position {
  return positionOf(epochs, seq) ?? { epoch: head.epoch, seq };
}

function locateIn(known: Known, cursor: Cursor | undefined): Located {
  const { head, epochs, isUncertain } = known;
  if (isUncertain) throw unavailable("unreachable");
  if (!cursor) return { position: positionIn(known, head.seq), isReset: false };
  const { epoch, seq } = cursor;
  const isKnown =
    epoch === undefined ? seq <= head.seq : isInHistory(epochs, head.seq, { epoch, seq });
  return { position: positionIn(known, isKnown ? seq : head.seq), isReset: !isKnown };
}

/**
 * The rows that were read last, in pages. Readers of the same page share one read. Rows of an epoch
 * that is no longer current are not kept.
 */
function createPages(
  history: Pick<HistoryReader, "listRows">,
  isCurrent: (epoch: string) => boolean,
) {
  /** By number, the most recently used last. Page n begins with row n * pageRows + 1. */
  const pages = new Map<number, NamedRow[]>();
  const loading = new Map<number, Promise<void>>();
  /** Counts calls of `clear`. A page whose read began before such a call is not used. */
  let generation = 0;

  async function load(number: number, { epoch, seq }: Position): Promise<void> {
    const started = generation;
    const page = pages.get(number) ?? [];
    const after = number * pageRows + page.length;
    const upTo = Math.min(seq, (number + 1) * pageRows);
    const rows = await history.listRows({ after, upTo }, pageRows);
    if (generation !== started || !isCurrent(epoch)) return;
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

  return {
    /** Rows after row `after`, at most to the end of its page. None if the store was replaced meanwhile. */
    after(after: number, head: Position): MaybePromise<readonly NamedRow[]> {
      const cached = cachedAfter(after);
      if (cached.length > 0) return cached;
      const number = Math.floor(after / pageRows);
      let running = loading.get(number);
      const isShared = running !== undefined;
      const started = generation;
      if (!running) {
        running = load(number, head).finally(() => {
          if (loading.get(number) === running) loading.delete(number);
        });
        loading.set(number, running);
      }
      return running.then(() => {
        const rows = cachedAfter(after);
        // A read that another reader has begun may end before the row that is wanted here.
        const isTooShort = isShared && rows.length === 0 && generation === started;
        return isTooShort ? this.after(after, head) : rows;
      });
    },
    clear(): void {
      generation += 1;
      pages.clear();
      loading.clear();
    },
  };
}
