import type { LedgerTail } from "../../domain/ledger/tail.ts";
import { every, whileAvailable } from "../../domain/running/background.ts";
import { unavailable } from "../../domain/running/errors.ts";
import type { Log } from "../../domain/running/events.ts";
import { createPacer } from "../../domain/running/pacer.ts";
import { createRounds, feedPauses } from "./rounds.ts";
import { createFeedStream, type FeedStream, type StreamRequest } from "./stream.ts";

export type Feed = ReturnType<typeof createFeed>;

export interface FeedBounds {
  readonly streamsPerKeyMax: number;
  readonly streamsPerOperatorMax: number;
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

const checkEveryMsMax = 1_000;

/** Sends changes to open streams as they are committed. */
export function createFeed(options: FeedOptions) {
  const { tail, bounds, monotonicMs, log } = options;
  const pacer = createPacer(monotonicMs, () => tail.seq, feedPauses);
  const streams = new Set<FeedStream>();
  const checkKeys = createKeyCheck(options, streams);
  const { wake, historyChanged } = createRounds(streams, tail, monotonicMs, log);
  /** Open streams by key, including those that are being opened. */
  const opened = new Map<string, number>();
  let streamsCutOff = 0;
  let isClosed = false;

  /** Sends heartbeats, and cuts off clients that stall. Does not wait for the store. */
  async function checkClients(): Promise<void> {
    if (streams.size === 0) return;
    wake();
    for (const stream of streams) {
      const now = monotonicMs();
      if (stream.isStalled() && now - stream.writtenAt() > bounds.stallMs) {
        stream.cutOff();
        streamsCutOff += 1;
      } else if (stream.isWritable() && now - stream.writtenAt() >= bounds.heartbeatMs) {
        stream.sendHeartbeat();
      }
      if (pacer.spend(monotonicMs() - now)) await pacer.turn();
    }
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
    const stream = createFeedStream({
      request,
      start: tail.positionAt(isReset ? tail.seq : Math.min(wanted, tail.seq)),
      isReset,
      monotonicMs,
      onWritable: wake,
      onEnd() {
        streams.delete(stream);
        release(request.keyId);
      },
    });
    streams.add(stream);
    // The client may have left before the stream listened to the signal.
    if (request.signal.aborted) stream.end();
    return stream.body;
  }

  tail.subscribe({ rowsAdded: wake, historyChanged });
  const checkEveryMs = Math.min(checkEveryMsMax, bounds.heartbeatMs / 4);
  // Two timers: a store that does not respond must not delay a heartbeat until the server closes the
  // connection because it is idle.
  const stopChecks = [
    every(checkEveryMs, "checking the clients of the feed", log, checkClients),
    every(checkEveryMs, "checking the keys of the feed", log, whileAvailable(checkKeys)),
  ];

  return {
    /**
     * Opens a stream. Returns undefined if the key has as many open streams as it may have. Throws
     * `unavailable` if the service has `streamsMax`, or is stopping.
     */
    async open(request: StreamRequest): Promise<ReadableStream<Uint8Array> | undefined> {
      if (isClosed) throw unavailable("stopping");
      const own = opened.get(request.keyId) ?? 0;
      const { streamsPerKeyMax, streamsPerOperatorMax } = bounds;
      if (own >= (request.isOperator ? streamsPerOperatorMax : streamsPerKeyMax)) return undefined;
      if (streams.size >= bounds.streamsMax) throw unavailable("tooManyStreams");
      opened.set(request.keyId, own + 1);
      try {
        return await start(request);
      } catch (error) {
        release(request.keyId);
        throw error;
      }
    },
    /** Ends all streams at once. Their clients reconnect to another instance, or after the restart. */
    close(): void {
      isClosed = true;
      for (const stop of stopChecks) stop();
      for (const stream of streams) stream.end();
    },
    streamsOpen: () => streams.size,
    /** Streams whose client stalled. */
    streamsCutOff: () => streamsCutOff,
  };
}

/** Returns a function that ends streams whose key is no longer valid. */
function createKeyCheck(
  { tail, readBannedKeys, monotonicMs }: FeedOptions,
  streams: ReadonlySet<FeedStream>,
): () => Promise<void> {
  const pacer = createPacer(monotonicMs, () => tail.seq, feedPauses);
  return async () => {
    if (streams.size === 0) return;
    const banned = await readBannedKeys().catch(() => new Set<string>());
    for (const stream of streams) {
      const startedAt = monotonicMs();
      const { request } = stream;
      if (banned.has(request.keyId) || !(await isAuthorized(request))) stream.end();
      if (pacer.spend(monotonicMs() - startedAt)) await pacer.turn();
    }
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
