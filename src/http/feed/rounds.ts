import { type LedgerTail, pageRows } from "../../domain/ledger/tail.ts";
import { inBackground, whileAvailable, yieldToEventLoop } from "../../domain/running/background.ts";
import type { MaybePromise } from "../../domain/running/clock.ts";
import type { Log } from "../../domain/running/events.ts";
import { createPacer, type PauseFactors } from "../../domain/running/pacer.ts";
import { createFeedChunks } from "./chunks.ts";
import type { FeedStream } from "./stream.ts";

/** Sends changes to all streams, in rounds. */
export interface Rounds {
  /** Sends what there is to send. Call when rows were added or a client is ready for more. */
  wake(): void;
  /** Finds the streams whose history is not the one of the store. Each gets a reset. */
  historyChanged(): void;
  /** Forgets a stream that has ended. */
  forget(stream: FeedStream): void;
}

/**
 * The feed takes most of the time of a service that has little else to do, and 6 % of the time of a busy
 * one, in which events are later and bundled.
 */
export const feedPauses: PauseFactors = { idle: 0, busy: 15 };

/** How much one stream is sent before it is the turn of the next one. */
const turnBytesMax = 64 * 1024;

/** A smaller chunk counts as this much, because rows that do not match the filter take time too. */
const chunkBytesMin = 8 * 1024;

/**
 * When every stream has everything, the feed waits for a multiple of the time that it took, so that
 * changes are sent together. A write costs more than the changes in it.
 */
const bundleFactor = 4;
const bundleMsMin = 5;
const bundleMsMax = 100;

/** Reads of older changes that run at once. Each is one query on PostgreSQL. */
const readsMax = 16;
/** How soon the feed looks whether they have ended. */
const readingMs = 1;

/** `streams` are in the order of their turns. */
export function createRounds(
  streams: Map<FeedStream, unknown>,
  tail: LedgerTail,
  monotonicMs: () => number,
  log: Log,
): Rounds {
  const chunks = createFeedChunks(tail);
  const pacer = createPacer(monotonicMs, () => tail.seq, feedPauses);
  /** Streams whose position is not in the history of the store. Each gets a reset. */
  const outdated = new Set<FeedStream>();
  /** Streams far behind, while their next changes are read. The others do not wait for them. */
  const reading = new Set<FeedStream>();
  let readFailure: unknown;
  let isSending = false;
  /** True if rows were added or a client became ready since the current round began. */
  let hasNews = false;
  /** The pacer knows of the work before this. */
  let countedAt = 0;

  /** Counts the work since the last call. Returns true if the slice is over. */
  function count(): boolean {
    const now = monotonicMs();
    const isSliceOver = pacer.spend(now - countedAt);
    countedAt = now;
    return isSliceOver;
  }

  /** Waits without counting the time. */
  async function pause<T>(wait: Promise<T>): Promise<T> {
    const result = await wait;
    countedAt = monotonicMs();
    return result;
  }

  /** Sends until no stream can be sent more. Wakes up when rows are added or a client is ready. */
  async function sendAll(): Promise<void> {
    isSending = true;
    try {
      // The responses to the updates that were just committed go first.
      await pause(yieldToEventLoop());
      for (;;) {
        hasNews = false;
        const startedAt = monotonicMs();
        const sent = await sendRound();
        if (sent === "nothing" && !hasNews && reading.size === 0) break;
        const tookMs = monotonicMs() - startedAt;
        const bundleMs = Math.min(bundleMsMax, Math.max(bundleMsMin, tookMs * bundleFactor));
        count();
        await pause(pacer.turn(sent === "some" ? 0 : reading.size > 0 ? readingMs : bundleMs));
      }
    } finally {
      isSending = false;
    }
  }

  /** If the store cannot be read, the next check tries again. */
  const start = inBackground("sending changes to streams", log, whileAvailable(sendAll));

  /** Costs nothing without streams: it is called after every commit. */
  function wake(): void {
    hasNews = true;
    if (!isSending && streams.size > 0) start();
  }

  /** Gives every stream one turn. Returns `some` if a stream used its whole turn and may need another. */
  async function sendRound(): Promise<"nothing" | "some" | "everything"> {
    let hasSent = false;
    let hasMore = false;
    throwReadFailure();
    for (const stream of [...streams.keys()]) {
      let turnBytes = 0;
      while (turnBytes < turnBytesMax && isBehind(stream) && !reading.has(stream)) {
        const isFar = tail.seq - stream.position.seq > pageRows;
        if (isFar && reading.size >= readsMax) break;
        const bytes = sendNext(stream);
        if (isFar && bytes instanceof Promise) {
          readAside(stream, bytes);
          break;
        }
        const isSliceOver = count();
        const sent = bytes instanceof Promise ? await pause(bytes) : bytes;
        if (sent === undefined) break;
        hasSent = true;
        turnBytes += Math.max(sent, chunkBytesMin);
        if (isSliceOver) await pause(pacer.turn());
      }
      hasMore ||= turnBytes >= turnBytesMax;
    }
    if (!hasSent) return "nothing";
    return hasMore ? "some" : "everything";
  }

  /** Continues while the next changes of a stream are read. It is then the last in turn. */
  function readAside(stream: FeedStream, sending: Promise<unknown>): void {
    reading.add(stream);
    const request = streams.get(stream);
    streams.delete(stream);
    streams.set(stream, request);
    sending
      .catch((error) => {
        readFailure = error;
      })
      .finally(() => reading.delete(stream));
  }

  /** Ends the round after a read that failed. The next check tries again. */
  function throwReadFailure(): void {
    const failure = readFailure;
    readFailure = undefined;
    if (failure !== undefined) throw failure;
  }

  function isBehind(stream: FeedStream): boolean {
    return stream.isWritable && (outdated.has(stream) || stream.position.seq < tail.seq);
  }

  /** Returns the number of bytes sent, or undefined if there is nothing to send. */
  function sendNext(stream: FeedStream): MaybePromise<number | undefined> {
    if (outdated.delete(stream)) {
      stream.sendReset(tail.positionAt(tail.seq));
      return 0;
    }
    const chunk = chunks.after(stream.position.seq, stream.filter);
    return chunk instanceof Promise ? chunk.then(send) : send(chunk);

    function send(found: Awaited<typeof chunk>): number | undefined {
      // While the chunk was read, the stream may have ended or become outdated.
      const isWanted = found?.afterSeq === stream.position.seq && stream.isWritable;
      if (!found || !isWanted || outdated.has(stream)) return undefined;
      stream.sendChanges(found);
      return found.bytes.length;
    }
  }

  function historyChanged(): void {
    chunks.clear();
    for (const stream of streams.keys()) {
      if (!tail.includes(stream.position)) outdated.add(stream);
    }
    wake();
  }

  return { wake, historyChanged, forget: (stream) => void outdated.delete(stream) };
}
