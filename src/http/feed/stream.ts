import type { Position } from "../../domain/ledger/epochs.ts";
import type { FeedChunk, FeedFilter } from "./chunks.ts";
import { positionEvent, retryField } from "./events.ts";

/** One open response. It never holds more than one chunk that its client has not taken. */
export interface FeedStream {
  readonly keyId: string;
  readonly filter: FeedFilter;
  readonly body: ReadableStream<Uint8Array>;
  /** The last row that was sent, or that the filter excluded. */
  readonly position: Position;
  /** When the client last took everything that was written. Undefined while it has not. */
  readonly idleSince: number | undefined;
  /** Since when the client has not taken what was written. Undefined if it has. */
  readonly stalledSince: number | undefined;
  /** True if the response has begun, and its client takes what is written. */
  readonly isWritable: boolean;
  sendChanges(chunk: FeedChunk): void;
  sendHeartbeat(): void;
  /** Continues at another position, because the client has seen another history. */
  sendReset(position: Position): void;
  /** Ends the response completely. The client reconnects on its own. */
  end(): void;
  /** Closes the connection in the middle of the response. */
  cutOff(): void;
}

export interface FeedStreamOptions {
  readonly keyId: string;
  readonly filter: FeedFilter;
  readonly start: Position;
  readonly isReset: boolean;
  readonly signal: AbortSignal;
  readonly monotonicMs: () => number;
  /** Called when more can be written: when the response begins, and after a wait for the client. */
  onWritable(): void;
  /** Called once, when the response has ended or its client is gone. */
  onEnd(): void;
}

export function createFeedStream(options: FeedStreamOptions): FeedStream {
  const { keyId, filter, isReset, signal, monotonicMs, onWritable, onEnd } = options;
  let position = options.start;
  let controller: ReadableStreamDirectController | undefined;
  let isEnded = false;
  let stalledSince: number | undefined;
  let idleSince = monotonicMs();
  const finished = Promise.withResolvers<void>();
  // Bun handles the rejection of a stream that is cut off, but it may not listen yet.
  finished.promise.catch(() => {});

  function write(bytes: Uint8Array | string): void {
    // Returns a promise if the client does not keep up. It also resolves when the client is gone.
    const written: unknown = controller!.write(bytes);
    controller!.flush();
    idleSince = monotonicMs();
    if (!(written instanceof Promise)) return;
    stalledSince = idleSince;
    const taken = () => {
      stalledSince = undefined;
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
    keyId,
    filter,
    body,
    get position() {
      return position;
    },
    get idleSince() {
      return stalledSince === undefined ? idleSince : undefined;
    },
    get stalledSince() {
      return stalledSince;
    },
    get isWritable() {
      return controller !== undefined && !isEnded && !signal.aborted && stalledSince === undefined;
    },
    sendChanges({ position: after, bytes }) {
      position = after;
      if (bytes.length > 0) write(bytes);
    },
    sendHeartbeat: () => write(positionEvent("heartbeat", position)),
    sendReset(to) {
      position = to;
      write(positionEvent("reset", position));
    },
    end() {
      leave();
      controller?.end();
      finished.resolve();
    },
    cutOff() {
      leave();
      // A rejection makes Bun reset the connection. Without a reason, Bun prints nothing.
      finished.reject();
    },
  };
}
