import { every, inBackground, isUnavailable } from "../running/background.ts";
import { andThen, type MaybePromise } from "../running/clock.ts";
import type { Log } from "../running/events.ts";
import type { StockRow } from "./ledger.ts";
import type { Head, InventoryStore } from "./store.ts";

/** Called when the store changes. Each function is optional. */
export interface HeadSubscriber {
  /** Keys or bans changed, in any process. */
  keysChanged?(): void;
  /** This process committed these rows. Rows of other processes may lie between two calls. */
  rowsCommitted?(rows: readonly StockRow[], epoch: string): void;
  /**
   * The head differs from the one that was read before, because any process committed. Heads are
   * announced in the order in which they were read, so a smaller `seq` in the same epoch means that
   * the store was replaced. The rows up to a head may already have been announced as committed.
   */
  headMoved?(head: Head): void;
}

export type HeadWatcher = ReturnType<typeof createHeadWatcher>;

/** How late a change by another process may be announced when no request arrives. */
const pollEveryMs = 250;

/**
 * The one place that learns that the store changed. The keyring, the rate limiter, the list
 * and the tail subscribe to it.
 *
 * An embedded engine knows without a wait whether any process wrote, so every request checks it. A
 * database server has to be queried, so a timer does that, and changes made through this process
 * are announced at once. `onPolled` is called after every poll, with the error if the store is unavailable.
 */
export function createHeadWatcher(
  store: Pick<InventoryStore, "readHead" | "cachedHead">,
  log: Log,
  onPolled: (error?: unknown) => void = () => {},
) {
  let subscribers: readonly Required<HeadSubscriber>[] = [];
  let known: Head | undefined;
  /** Reads are numbered as they begin. */
  let readsBegun = 0;
  /** The number of the read that `known` comes from. */
  let knownRead = 0;

  function announce(head: Head): Head {
    const before = known;
    known = head;
    if (head.keysVersion !== before?.keysVersion) announceKeys();
    if (head.seq !== before?.seq || head.epoch !== before.epoch) {
      for (const { headMoved } of subscribers) headMoved(head);
    }
    return head;
  }

  function announceKeys(): void {
    for (const { keysChanged } of subscribers) keysChanged();
  }

  function cachedHead(): Head | undefined {
    const head = store.cachedHead();
    if (!head || head === known) return head;
    if (!known || !isOlder(head, known)) return announce(head);
    // The engine updates its cache when a commit returns, and a read may find the commit earlier.
    // A new read distinguishes that from a store that was replaced.
    const current = readHead();
    return current instanceof Promise ? head : current;
  }

  function readHead(): MaybePromise<Head> {
    const read = ++readsBegun;
    return andThen(store.readHead(), (head) => arrived(head, read));
  }

  /** Announces a head, unless a read that began later has already returned. */
  function arrived(head: Head, read: number): Head {
    if (read < knownRead) return head;
    knownRead = read;
    return announce(head);
  }

  /** Notifications of a database server can be lost without an error, so it is polled. */
  function poll(): MaybePromise<unknown> {
    try {
      const reading = cachedHead() ?? readHead();
      if (reading instanceof Promise) return reading.then(() => onPolled(), pollFailed);
      onPolled();
    } catch (error) {
      pollFailed(error);
    }
    return undefined;
  }

  function pollFailed(error: unknown): void {
    if (!isUnavailable(error)) throw error;
    onPolled(error);
  }

  const stopPolling = every(pollEveryMs, "reading the head", log, poll);

  return {
    /**
     * Calls `keysChanged` at once, because the subscriber may have read keys earlier. An exception of
     * a subscriber is logged and does not affect the others.
     */
    subscribe(subscriber: HeadSubscriber): void {
      const one = guarded(subscriber, log);
      subscribers = [...subscribers, one];
      one.keysChanged();
    },
    /**
     * The head for a request that has just arrived, if the engine knows it without a wait. Announces
     * changes first, so a request never uses a key that was revoked before it arrived.
     */
    cachedHead,
    /** Reads the head and announces what changed. */
    readHead,
    /** Announces rows that this process committed, and their epoch. */
    committed(rows: readonly StockRow[], epoch: string): void {
      for (const { rowsCommitted } of subscribers) rowsCommitted(rows, epoch);
    },
    /** Announces a change to keys or bans that was made through this process. */
    keysWritten: announceKeys,
    /** Stops polling. Nothing is announced from then on. */
    stop(): void {
      stopPolling();
      subscribers = [];
    },
  };
}

function isOlder(head: Head, than: Head): boolean {
  return head.epoch === than.epoch && (head.seq < than.seq || head.keysVersion < than.keysVersion);
}

/** A subscriber that throws must not keep the others from learning that a key was revoked. */
function guarded(subscriber: HeadSubscriber, log: Log): Required<HeadSubscriber> {
  const { keysChanged, rowsCommitted, headMoved } = subscriber;
  return {
    keysChanged: inBackground("reacting to changed keys", log, () => keysChanged?.()),
    rowsCommitted: inBackground(
      "reacting to committed rows",
      log,
      (rows: readonly StockRow[], epoch: string) => rowsCommitted?.(rows, epoch),
    ),
    headMoved: inBackground("reacting to a new head", log, (head: Head) => headMoved?.(head)),
  };
}
