import type { Cursor } from "../../domain/ledger/cursors.ts";
import type { LedgerTail } from "../../domain/ledger/tail.ts";
import { every, whileAvailable } from "../../domain/running/background.ts";
import type { MaybePromise } from "../../domain/running/clock.ts";
import { unavailable } from "../../domain/running/errors.ts";
import type { Log } from "../../domain/running/events.ts";
import { createPacer } from "../../domain/running/pacer.ts";
import type { FeedFilter } from "./chunks.ts";
import { createRounds, feedPauses } from "./rounds.ts";
import { createFeedStream, type FeedStream } from "./stream.ts";

/** Sends changes to open streams as they are committed. */
export interface Feed {
  /**
   * Opens a stream. Returns undefined if the key has as many open streams as it may have. Throws
   * `unavailable` if the service has `streamsMax`, or is stopping.
   */
  open(request: StreamRequest): Promise<ReadableStream<Uint8Array> | undefined>;
  /** Ends all streams at once. Their clients reconnect to another instance, or after the restart. */
  close(): void;
  readonly streamsOpen: number;
  /** Streams whose client stalled. */
  readonly streamsCutOff: number;
}

export interface StreamRequest {
  /** Where the client continues. Undefined starts with the next change. */
  readonly cursor: Cursor | undefined;
  /** Skips changes up to this row. */
  readonly afterSeq: number;
  readonly filter: FeedFilter;
  readonly keyId: string;
  /** Operator keys may have more streams than others. */
  readonly isOperator: boolean;
  /** Whether the key may still read the feed. Asked every second. */
  isAuthorized(): MaybePromise<boolean>;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

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

export function createFeed({ tail, readBannedKeys, bounds, monotonicMs, log }: FeedOptions): Feed {
  const clientPacer = createPacer(monotonicMs, () => tail.seq, feedPauses);
  const keyPacer = createPacer(monotonicMs, () => tail.seq, feedPauses);
  const streams = new Map<FeedStream, StreamRequest>();
  const { wake, historyChanged, forget } = createRounds(streams, tail, monotonicMs, log);
  /** Open streams by key, including those that are being opened. */
  const opened = new Map<string, number>();
  let streamsCutOff = 0;
  let isClosed = false;

  /** Sends heartbeats, and cuts off clients that stall. Does not wait for the store. */
  async function checkClients(): Promise<void> {
    if (streams.size === 0) return;
    wake();
    for (const stream of streams.keys()) {
      const now = monotonicMs();
      if (stream.stalledSince !== undefined && now - stream.stalledSince > bounds.stallMs) {
        stream.cutOff();
        streamsCutOff += 1;
      } else if (stream.isWritable && now - (stream.idleSince ?? now) >= bounds.heartbeatMs) {
        stream.sendHeartbeat();
      }
      if (clientPacer.spend(monotonicMs() - now)) await clientPacer.turn();
    }
  }

  /** Ends streams whose key is no longer valid. */
  async function checkKeys(): Promise<void> {
    if (streams.size === 0) return;
    const banned = await readBannedKeys().catch(() => new Set<string>());
    for (const [stream, request] of streams) {
      const startedAt = monotonicMs();
      if (banned.has(stream.keyId) || !(await isAuthorized(request))) stream.end();
      if (keyPacer.spend(monotonicMs() - startedAt)) await keyPacer.turn();
    }
  }

  function close(stream: FeedStream): void {
    streams.delete(stream);
    forget(stream);
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
    every(checkEveryMs, "checking the keys of the feed", log, whileAvailable(checkKeys)),
  ];

  return {
    async open(request) {
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
    close() {
      isClosed = true;
      for (const stop of stopChecks) stop();
      for (const stream of streams.keys()) stream.end();
    },
    get streamsOpen() {
      return streams.size;
    },
    get streamsCutOff() {
      return streamsCutOff;
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
