import { onAbort } from "./abort.js";
import type { Transport } from "./call.js";
import { FeedReader, type WatchEvent } from "./feed-reader.js";
import { withHeaders } from "./headers.js";
import type { Cause } from "./ledger.js";
import { formatInstant, formatSeq, type Instant } from "./moment.js";
import type { CallOptions } from "./options.js";
import { atLeast, resolveBudget } from "./settings.js";

/**
 * The options of a watch. `timeoutMs` is the time until the service responds. Without `attemptsMax`
 * and `retryForMs`, the watch reconnects without end; the client's own values do not apply. With
 * them, they bound the attempts and the time without a connection.
 */
export interface WatchOptions extends CallOptions {
  /**
   * Where to start: the cursor of an earlier event, or the `seq` of a ledger row. The first change is
   * the one after it. Without it, the watch starts with the changes after its first connection.
   */
  readonly after?: string | number | bigint | undefined;
  /** Only changes at this time or later, which can be in the future. */
  readonly since?: Instant | undefined;
  /** Only changes with this cause. */
  readonly cause?: Cause | undefined;
  /** Only changes made with the API key of this ID. */
  readonly key?: string | undefined;
  /**
   * Time in milliseconds without a byte after which the connection counts as dead. The service sends
   * a heartbeat every 15 seconds or more often. Default: 45,000.
   */
  readonly idleTimeoutMs?: number | undefined;
}

/**
 * An iterator over the changes as they happen. It opens a connection on the first `next()` and has no
 * end: leave the loop, call `return()` or abort the signal to close the connection.
 */
export interface Watch extends AsyncIterableIterator<WatchEvent> {
  /**
   * The position after the last event that the iterator returned, or of a later heartbeat. Undefined
   * before the first event of a watch without `after`. To continue later, store it when the event is
   * handled, and pass it as `after`.
   */
  readonly cursor: string | undefined;
  [Symbol.asyncIterator](): Watch;
  return(): Promise<IteratorReturnResult<undefined>>;
}

const defaultIdleTimeoutMs = 45_000;

export function watchFeed(transport: Transport, options: WatchOptions): Watch {
  const { after, since, cause, key, signal } = options;
  const stop = new AbortController();
  const reader = new FeedReader(transport, {
    after: after === undefined ? undefined : formatAfter(after),
    since: since === undefined ? undefined : formatInstant("since", since),
    cause,
    key,
    headers: withHeaders(transport.settings.headers, options.headers),
    budget: resolveBudget(options, { ...transport.settings, ...unbounded }),
    idleTimeoutMs: atLeast(1, "idleTimeoutMs", options.idleTimeoutMs ?? defaultIdleTimeoutMs),
    signal: stop.signal,
  });
  const events = reader.events();
  const removeCallback = signal && onAbort(signal, () => stop.abort(signal.reason));
  if (signal?.aborted) stop.abort(signal.reason);
  const ended = { done: true, value: undefined } as const;
  let isClosed = false;
  const watch: Watch = {
    get cursor() {
      return reader.cursor;
    },
    async next() {
      try {
        const result = await events.next();
        if (result.done) removeCallback?.();
        return result.done ? ended : result;
      } catch (error) {
        removeCallback?.();
        // The error is only how a pending read ends.
        if (isClosed) return ended;
        throw error;
      }
    },
    async return() {
      isClosed = true;
      removeCallback?.();
      stop.abort();
      await events.return();
      return ended;
    },
    [Symbol.asyncIterator]: () => watch,
  };
  return watch;
}

const unbounded = {
  attemptsMax: Number.POSITIVE_INFINITY,
  retryForMs: Number.POSITIVE_INFINITY,
};

/** The service checks the text of a cursor. Empty text would start a watch at the end. */
function formatAfter(after: string | number | bigint): string {
  if (typeof after !== "string") return formatSeq("after", after);
  if (after !== "") return after;
  throw new TypeError("after must be a cursor or the seq of a ledger row, not an empty string");
}
