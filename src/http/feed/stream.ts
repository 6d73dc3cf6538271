import type { Cursor } from "../../domain/ledger/cursors.ts";
import type { Position } from "../../domain/ledger/epochs.ts";
import type { MaybePromise } from "../../domain/running/clock.ts";
import type { FeedChunk, FeedFilter } from "./chunks.ts";
import { positionEvent, retryField } from "./events.ts";

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

export type FeedStream = ReturnType<typeof createFeedStream>;

export interface FeedStreamOptions {
  readonly request: StreamRequest;
  readonly start: Position;
  readonly isReset: boolean;
  readonly monotonicMs: () => number;
  /** Called when more can be written: when the response begins, and after a wait for the client. */
  onWritable(): void;
  /** Called once, when the response has ended or its client is gone. */
  onEnd(): void;
}

/** One open response. It never holds more than one chunk that its client has not taken. */
export function createFeedStream(options: FeedStreamOptions) {
  const { request, isReset, monotonicMs, onWritable, onEnd } = options;
  const { signal } = request;
  let position = options.start;
  let controller: ReadableStreamDirectController | undefined;
  let isEnded = false;
  let writtenAt = monotonicMs();
  let isStalled = false;
  const finished = Promise.withResolvers<void>();
  // Bun handles the rejection of a stream that is cut off, but it may not listen yet.
  finished.promise.catch(() => {});

  function write(bytes: Uint8Array | string): void {
    // Returns a promise if the client does not keep up. It also resolves when the client is gone.
    const written: unknown = controller!.write(bytes);
    controller!.flush();
    writtenAt = monotonicMs();
    if (!(written instanceof Promise)) return;
    isStalled = true;
    const taken = () => {
      isStalled = false;
      if (!isEnded) onWritable();
    };
    written.then(taken, taken);
  }

  function leave(): void {
    if (isEnded) return;
    isEnded = true;
    signal.removeEventListener("abort", abandoned);
    onEnd();
  }

  function abandoned(): void {
    leave();
    finished.resolve();
  }

  signal.addEventListener("abort", abandoned);
  const body = new ReadableStream({
    type: "direct",
    pull(direct: ReadableStreamDirectController) {
      if (isEnded) {
        direct.end();
        return;
      }
      controller = direct;
      write(retryField() + positionEvent(isReset ? "reset" : "heartbeat", position));
      onWritable();
      return finished.promise;
    },
    cancel: abandoned,
  } as unknown as UnderlyingDefaultSource<Uint8Array>);

  return {
    request,
    body,
    /** The last row that was sent, or that the filter excluded. */
    position: () => position,
    /** When something was last written. */
    writtenAt: () => writtenAt,
    /** True while the client has not taken what was written. */
    isStalled: () => isStalled,
    /** True if the response has begun, and its client takes what is written. */
    isWritable: () => controller !== undefined && !isEnded && !signal.aborted && !isStalled,
    sendChanges({ position: after, bytes }: FeedChunk): void {
      position = after;
      if (bytes.length > 0) write(bytes);
    },
    sendHeartbeat: () => write(positionEvent("heartbeat", position)),
    /** Continues at another position, because the client has seen another history. */
    sendReset(to: Position): void {
      position = to;
      write(positionEvent("reset", position));
    },
    /** Ends the response completely. The client reconnects on its own. */
    end(): void {
      leave();
      controller?.end();
      finished.resolve();
    },
    /** Closes the connection in the middle of the response. */
    cutOff(): void {
      leave();
      // A rejection makes Bun reset the connection. Without a reason, Bun prints nothing.
      finished.reject();
    },
  };
}
