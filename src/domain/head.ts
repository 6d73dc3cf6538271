import { every } from "./background.ts";
import type { LedgerRow } from "./ledger.ts";
import type { Head, InventoryStore, Log, MaybePromise, Store } from "./ports.ts";

/** Called when the store changes. Each function is optional. */
export interface HeadSubscriber {
  /** Keys or bans changed, in any process. */
  keysChanged?(): void;
  /** This process committed these rows. */
  rowsCommitted?(rows: readonly LedgerRow[]): void;
  /** The head differs from the one that was read before, because any process committed. */
  headMoved?(head: Head): void;
}

/**
 * The one place that learns that the store changed. The keyring, the rate limiter and the list
 * subscribe to it.
 *
 * An embedded engine knows without a wait whether anybody wrote, so every request checks it. A
 * database server has to be queried, so a timer does that, and changes made through this process
 * are announced at once.
 */
export interface HeadWatcher {
  /** Calls `keysChanged` at once, because the subscriber may have read keys earlier. */
  subscribe(subscriber: HeadSubscriber): void;
  /**
   * The head for a request that has just arrived, if the engine knows it without a wait. Announces
   * changes first, so a request never uses a key that was revoked before it arrived.
   */
  cachedHead(): Head | undefined;
  /** Reads the head and announces what changed. */
  readHead(): MaybePromise<Head>;
  /** Announces rows that this process committed. */
  committed(rows: readonly LedgerRow[]): void;
  /** Announces a change to keys or bans that was made through this process. */
  keysWritten(): void;
  stop(): void;
}

/** How late a change by another process may be announced when no request arrives. */
const pollEveryMs = 250;

export function createHeadWatcher(
  store: Pick<InventoryStore, "readHead" | "cachedHead">,
  log: Log,
): HeadWatcher {
  const subscribers: HeadSubscriber[] = [];
  let known: Head | undefined;

  function announce(head: Head): Head {
    if (head === known) return head;
    const before = known;
    known = head;
    if (head.keysVersion !== before?.keysVersion) announceKeys();
    if (head.seq !== before?.seq || head.epoch !== before.epoch) {
      for (const subscriber of subscribers) subscriber.headMoved?.(head);
    }
    return head;
  }

  function announceKeys(): void {
    for (const subscriber of subscribers) subscriber.keysChanged?.();
  }

  function cachedHead(): Head | undefined {
    const head = store.cachedHead();
    return head && announce(head);
  }

  function readHead(): MaybePromise<Head> {
    const reading = store.readHead();
    return reading instanceof Promise ? reading.then(announce) : announce(reading);
  }

  /** Notifications of a database server can be lost without an error, so it is polled. */
  function poll(): MaybePromise<unknown> {
    try {
      const head = cachedHead();
      if (head) return undefined;
    } catch {
      // An embedded engine that cannot be read has logged the reason.
      return undefined;
    }
    return readHead();
  }

  const stop = every(pollEveryMs, "reading the head", log, poll);

  return {
    subscribe(subscriber) {
      subscribers.push(subscriber);
      subscriber.keysChanged?.();
    },
    cachedHead,
    readHead,
    committed(rows) {
      for (const subscriber of subscribers) subscriber.rowsCommitted?.(rows);
    },
    keysWritten: announceKeys,
    stop,
  };
}

/** Returns the same store. Changes to keys and bans made through it are announced at once. */
export function announceKeyChanges(store: Store, watcher: HeadWatcher): Store {
  const announced =
    <A extends unknown[], T>(write: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      const result = await write(...args);
      watcher.keysWritten();
      return result;
    };
  const { keys, usage } = store;
  return {
    ...store,
    keys: {
      ...keys,
      addKey: announced(keys.addKey),
      addSecret: announced(keys.addSecret),
      revokeKey: announced(keys.revokeKey),
    },
    usage: { ...usage, liftBan: announced(usage.liftBan) },
  };
}
