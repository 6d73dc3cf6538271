import { every, inBackground, whileAvailable } from "../../domain/background.ts";
import type { Cursor } from "../../domain/cursors.ts";
import { unavailable } from "../../domain/errors.ts";
import { yieldToEventLoop } from "../../domain/event-loop.ts";
import type { Log, MaybePromise } from "../../domain/ports.ts";
import type { LedgerTail } from "../../domain/tail.ts";
import { createFeedChunks, type FeedFilter } from "./chunks.ts";
import { createPacer } from "./pace.ts";
import { createFeedStream, type FeedStream } from "./stream.ts";

/** Sends changes to open streams as they are committed. */
export interface Feed {
  /**
   * Opens a stream. Returns undefined if the key has `streamsPerKeyMax` open streams. Throws
   * `unavailable` if the service has `streamsMax`, or is stopping.
   */
  open(request: StreamRequest): Promise<ReadableStream<Uint8Array> | undefined>;
  /** Ends all streams at once. Their clients reconnect to another instance, or after the restart. */
  close(): void;
}

export interface StreamRequest {
  /** Where the client continues. Undefined starts with the next change. */
  readonly cursor: Cursor | undefined;
  /** Skips changes up to this row. */
  readonly afterSeq: number;
  readonly filter: FeedFilter;
  readonly keyId: string;
  /** Whether the key may still read the feed. Asked every second. */
  isAuthorized(): MaybePromise<boolean>;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

export interface FeedBounds {
  readonly streamsPerKeyMax: number;
  readonly streamsMax: number;
  /** The longest time without an event. */
  readonly heartbeatMs: number;
  /** A client that does not take a chunk within this time is cut off. */
  readonly stallMs: number;
}

export interface FeedOptions {
  readonly tail: LedgerTail;
  /** The ids of the keys that are banned at the moment. */
  readonly readBannedKeys: () => Promise<ReadonlySet<string>>;
  readonly bounds: FeedBounds;
  readonly monotonicMs: () => number;
  readonly log: Log;
}

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

const checkEveryMsMax = 1_000;

export function createFeed({ tail, readBannedKeys, bounds, monotonicMs, log }: FeedOptions): Feed {
  const chunks = createFeedChunks(tail);
  const pacer = createPacer(monotonicMs, () => tail.seq);
  const clientPacer = createPacer(monotonicMs, () => tail.seq);
  const keyPacer = createPacer(monotonicMs, () => tail.seq);
  const streams = new Map<FeedStream, StreamRequest>();
  /** Streams whose position is not in the history of the store. Each gets a reset. */
  const outdated = new Set<FeedStream>();
  /** Open streams by key, including those that are being opened. */
  const opened = new Map<string, number>();
  let isClosed = false;
  let isSending = false;
  /** True if rows were added or a client became ready since the current round began. */
  let hasNews = false;

  /** Sends until no stream can be sent more. Wakes up when rows are added or a client is ready. */
  async function sendAll(): Promise<void> {
    hasNews = true;
    if (isSending || streams.size === 0) return;
    isSending = true;
    try {
      // The responses to the updates that were just committed go first.
      await yieldToEventLoop();
      pacer.begin();
      for (;;) {
        hasNews = false;
        const startedAt = monotonicMs();
        const sent = await sendRound();
        if (sent === "nothing" && !hasNews) break;
        const tookMs = monotonicMs() - startedAt;
        const bundleMs = Math.min(bundleMsMax, Math.max(bundleMsMin, tookMs * bundleFactor));
        await pacer.rest(sent === "some" ? 0 : bundleMs);
      }
    } finally {
      isSending = false;
    }
  }

  /** If the store cannot be read, the next check tries again. */
  const wake = inBackground("sending changes to streams", log, whileAvailable(sendAll));

  /** Gives every stream one turn. Returns `some` if a stream used its whole turn and may need another. */
  async function sendRound(): Promise<"nothing" | "some" | "everything"> {
    let hasSent = false;
    let hasMore = false;
    for (const stream of streams.keys()) {
      let turnBytes = 0;
      while (turnBytes < turnBytesMax && isBehind(stream)) {
        const bytes = sendNext(stream);
        const sent = bytes instanceof Promise ? await pacer.wait(bytes) : bytes;
        if (sent === undefined) break;
        hasSent = true;
        turnBytes += Math.max(sent, chunkBytesMin);
        if (pacer.isSliceOver()) await pacer.rest();
      }
      hasMore ||= turnBytes >= turnBytesMax;
    }
    if (!hasSent) return "nothing";
    return hasMore ? "some" : "everything";
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

  /** Sends heartbeats, and cuts off clients that stall. Does not wait for the store. */
  async function checkClients(): Promise<void> {
    if (streams.size === 0) return;
    wake();
    clientPacer.begin();
    for (const stream of streams.keys()) {
      const now = monotonicMs();
      if (stream.stalledSince !== undefined && now - stream.stalledSince > bounds.stallMs) {
        stream.cutOff();
      } else if (stream.isWritable && now - (stream.idleSince ?? now) >= bounds.heartbeatMs) {
        stream.sendHeartbeat();
      }
      if (clientPacer.isSliceOver()) await clientPacer.rest();
    }
  }

  /** Ends streams whose key is no longer valid. */
  async function checkKeys(): Promise<void> {
    if (streams.size === 0) return;
    const banned = await readBannedKeys().catch(() => new Set<string>());
    keyPacer.begin();
    for (const [stream, request] of streams) {
      if (banned.has(stream.keyId) || !(await isAuthorized(request))) stream.end();
      if (keyPacer.isSliceOver()) await keyPacer.rest();
    }
  }

  function close(stream: FeedStream): void {
    streams.delete(stream);
    outdated.delete(stream);
    release(stream.keyId);
  }

  function release(keyId: string): void {
    const left = (opened.get(keyId) ?? 1) - 1;
    if (left > 0) opened.set(keyId, left);
    else opened.delete(keyId);
  }

  async function start(request: StreamRequest): Promise<ReadableStream<Uint8Array>> {
    const located = await tail.locate(request.cursor);
    if (isClosed) throw unavailable("stopping");
    // The history may have changed after the cursor was located.
    const isReset = located.isReset || !tail.includes(located.position);
    const wanted = Math.max(located.position.seq, request.afterSeq);
    const { keyId, filter, signal } = request;
    const stream = createFeedStream({
      keyId,
      filter,
      signal,
      start: tail.positionAt(isReset ? tail.seq : Math.min(wanted, tail.seq)),
      isReset,
      monotonicMs,
      onWritable: wake,
      onEnd: () => close(stream),
    });
    streams.set(stream, request);
    // The client may have left before the stream listened to the signal.
    if (signal.aborted) stream.end();
    return stream.body;
  }

  tail.subscribe({ rowsAdded: wake, historyChanged });
  const checkEveryMs = Math.min(checkEveryMsMax, bounds.heartbeatMs / 4);
  // Two timers: a store that does not respond must not delay a heartbeat until the server closes the
  // connection because it is idle.
  const stopChecks = [
    every(checkEveryMs, "checking the clients of the feed", log, checkClients),
    every(checkEveryMs, "checking the keys of the feed", log, checkKeys),
  ];

  return {
    async open(request) {
      if (isClosed) throw unavailable("stopping");
      const own = opened.get(request.keyId) ?? 0;
      if (own >= bounds.streamsPerKeyMax) return undefined;
      if (streams.size >= bounds.streamsMax) throw unavailable("tooManyStreams");
      opened.set(request.keyId, own + 1);
      try {
        return await start(request);
      } catch (error) {
        release(request.keyId);
        throw error;
      }
    },
    close() {
      isClosed = true;
      for (const stop of stopChecks) stop();
      for (const stream of streams.keys()) stream.end();
    },
  };
}

/** A store that cannot be read does not end streams. */
async function isAuthorized(request: StreamRequest): Promise<boolean> {
  try {
    return await request.isAuthorized();
  } catch {
    return true;
  }
}
