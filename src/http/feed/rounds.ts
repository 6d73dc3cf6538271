import { type LedgerTail, pageRows } from "../../domain/ledger/tail.ts";
import { inBackground, whileAvailable, yieldToEventLoop } from "../../domain/running/background.ts";
import { andThen, type MaybePromise } from "../../domain/running/clock.ts";
import type { Log } from "../../domain/running/events.ts";
import { createPacer, type Pacer, type Pauses } from "../../domain/running/pacer.ts";
import { createFeedChunks, type FeedChunk } from "./chunks.ts";
import type { FeedStream } from "./stream.ts";

/**
 * While the service has little else to do, the feed may take most of its time. While it is busy, the feed
 * takes 6 % of its time, and sends events later and in larger groups.
 */
export const feedPauses: Pauses = { idle: 0, busy: 15, countsWaits: true };

/** How much is sent to one stream before the next one has its turn. */
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

/** Sends changes to all streams, in rounds. `streams` are in the order of their turns. */
export function createRounds(
  streams: Set<FeedStream>,
  tail: LedgerTail,
  monotonicMs: () => number,
  log: Log,
) {
  const { isBehind, sendNext, historyChanged } = createNextEvents(streams, tail);
  const pacer = createPacer(monotonicMs, () => tail.seq, feedPauses);
  const { count, pause } = countWork(pacer, monotonicMs);
  /** Streams far behind, while their next changes are read. The others do not wait for them. */
  const reading = new Set<FeedStream>();
  let readFailure: unknown;
  let isSending = false;
  /** True if rows were added or a client became ready since the current round began. */
  let hasNews = false;

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

  /**
   * Sends what there is to send. Call when rows were added or a client is ready for more. Costs nothing
   * without streams: it is called after every commit.
   */
  function wake(): void {
    hasNews = true;
    if (!isSending && streams.size > 0) start();
  }

  /** Gives every stream one turn. Returns `some` if a stream used its whole turn and may need another. */
  async function sendRound(): Promise<"nothing" | "some" | "everything"> {
    let hasSent = false;
    let hasMore = false;
    // A failed read ends the round. The next check tries again.
    const failure = readFailure;
    readFailure = undefined;
    if (failure !== undefined) throw failure;
    for (const stream of [...streams]) {
      let turnBytes = 0;
      while (turnBytes < turnBytesMax && isBehind(stream) && !reading.has(stream)) {
        const isFar = tail.seq - stream.position().seq > pageRows;
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

  /** Lets the round continue while the next changes of this stream are read. The stream moves to the end. */
  function readAside(stream: FeedStream, sending: Promise<unknown>): void {
    reading.add(stream);
    streams.delete(stream);
    streams.add(stream);
    sending
      .catch((error) => {
        readFailure = error;
      })
      .finally(() => reading.delete(stream));
  }

  return {
    wake,
    /** Finds the streams whose position is not in the history of the store. Each gets a reset. */
    historyChanged(): void {
      historyChanged();
      wake();
    },
  };
}

/** Counts the time of work, without the time in which it waits. */
function countWork(pacer: Pacer, monotonicMs: () => number) {
  /** Up to this time, the work was counted. */
  let countedAt = 0;
  return {
    /** Counts the work since the last call. Returns true if the slice is over. */
    count(): boolean {
      const now = monotonicMs();
      const isSliceOver = pacer.spend(now - countedAt);
      countedAt = now;
      return isSliceOver;
    },
    /** Waits without counting the time. */
    async pause<T>(wait: Promise<T>): Promise<T> {
      const result = await wait;
      countedAt = monotonicMs();
      return result;
    },
  };
}

/** Finds and sends the next events of each stream. */
function createNextEvents(streams: ReadonlySet<FeedStream>, tail: LedgerTail) {
  const chunks = createFeedChunks(tail);
  /** Streams whose position is not in the history of the store. Each gets a reset. */
  const outdated = new WeakSet<FeedStream>();

  function send(stream: FeedStream, chunk: FeedChunk | undefined): number | undefined {
    // While the chunk was read, the stream may have ended or become outdated.
    const isWanted = chunk?.afterSeq === stream.position().seq && stream.isWritable();
    if (!chunk || !isWanted || outdated.has(stream)) return undefined;
    stream.sendChanges(chunk);
    return chunk.bytes.length;
  }

  return {
    isBehind: (stream: FeedStream): boolean =>
      stream.isWritable() && (outdated.has(stream) || stream.position().seq < tail.seq),
    /** Returns the number of bytes sent, or undefined if there is nothing to send. */
    sendNext(stream: FeedStream): MaybePromise<number | undefined> {
      if (outdated.delete(stream)) {
        stream.sendReset(tail.positionAt(tail.seq));
        return 0;
      }
      const chunk = chunks.after(stream.position().seq, stream.request.filter);
      return andThen(chunk, (read) => send(stream, read));
    },
    historyChanged(): void {
      chunks.clear();
      for (const stream of streams) if (!tail.includes(stream.position())) outdated.add(stream);
    },
  };
}
