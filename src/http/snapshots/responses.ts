import { setTimeout as sleep } from "node:timers/promises";
import { isWithinShare } from "../../domain/commits/groups.ts";
import { failureDetails } from "../../domain/running/background.ts";
import { unavailable } from "../../domain/running/errors.ts";
import type { Log } from "../../domain/running/events.ts";
import { createPlaces, type Visitor } from "./places.ts";

/**
 * Prepares and sends responses that are computed for one request and may be large. Their number is
 * bounded, because each takes CPU time until its first byte and memory until its last. No key can
 * keep others out: it may have about half of the places, and fewer while other keys have some. Nor can
 * slow clients: when no place is free, the response whose client has received nothing for the longest
 * time is cut off.
 */
export type SnapshotResponses = ReturnType<typeof createSnapshotResponses>;

export interface SnapshotCall {
  readonly request: Pick<Request, "signal" | "method">;
  readonly caller: Visitor;
}

type Prepare = (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;

export interface SnapshotBounds {
  readonly preparedMax: number;
  readonly waitingMax: number;
  readonly sentMax: number;
  /** For waiting and preparing. */
  readonly timeoutMs: number;
}

/** A response that is being sent. */
interface Sending {
  readonly caller: Visitor;
  /** When it began to wait for its client or its first read; Infinity while it does not wait. */
  waitingSince: number;
  isCutOff: boolean;
  /** Ends the wait. */
  wake: () => void;
}

/** A client that has received nothing for this time may be cut off. */
const slowMs = 1_000;
const pollMs = 100;

export function createSnapshotResponses(
  bounds: SnapshotBounds,
  monotonicMs: () => number,
  log: Log,
) {
  const sending = new Set<Sending>();
  const places = createPlaces(bounds.preparedMax, bounds.waitingMax);

  /** Waits until fewer responses than allowed are being sent, of this key and of all. */
  async function waitForPlace({ keyId }: Visitor, signal: AbortSignal): Promise<void> {
    const isFull = () => sending.size >= bounds.sentMax;
    const own = () => [...sending].filter(({ caller }) => caller.keyId === keyId);
    while (!isWithinShare(own().length, sending.size, 1, bounds.sentMax)) {
      if (signal.aborted) throw unavailable("tooManyRequests");
      if (!cutOffSlowest(isFull() ? [...sending] : own())) await sleep(pollMs);
    }
  }

  function cutOffSlowest(among: readonly Sending[]): boolean {
    const [slowest] = among.toSorted((one, other) => one.waitingSince - other.waitingSince);
    if (!slowest || monotonicMs() - slowest.waitingSince < slowMs) return false;
    slowest.isCutOff = true;
    slowest.wake();
    sending.delete(slowest);
    log("slow reader of a snapshot cut off");
    return true;
  }

  function stream(
    body: AsyncIterable<Uint8Array>,
    { caller, request: { signal } }: SnapshotCall,
  ): ReadableStream<Uint8Array> {
    const waitingSince = monotonicMs();
    const one: Sending = { caller, waitingSince, isCutOff: false, wake: () => {} };
    const end = () => sending.delete(one);
    sending.add(one);
    // A client that is gone before the first byte causes neither a pull nor a cancel.
    signal.addEventListener("abort", end);
    return new ReadableStream({
      type: "direct",
      async pull(controller: ReadableStreamDirectController) {
        try {
          await send(body, one, controller, signal, monotonicMs);
        } catch (error) {
          log("snapshot failed", failureDetails(error));
          one.isCutOff = true;
        } finally {
          end();
        }
        // Makes Bun reset the connection, and print nothing because there is no reason. After a
        // normal end the client would take a part of the inventory for the whole.
        if (one.isCutOff) return await Promise.reject();
        controller.end();
      },
      cancel: end,
    } as unknown as UnderlyingDefaultSource<Uint8Array>);
  }

  /**
   * Waits for its turn and prepares something. That must end when the signal is aborted: the client is gone,
   * or it took too long. Throws `unavailable` if too many requests wait, of this key or of all.
   */
  async function prepare<T>(
    { caller, request }: SnapshotCall,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const stopping = new AbortController();
    const stop = () => stopping.abort();
    const timer = setTimeout(stop, bounds.timeoutMs);
    request.signal.addEventListener("abort", stop);
    try {
      const leave = await places.enter(caller, stopping.signal);
      try {
        return await work(stopping.signal);
      } finally {
        leave();
      }
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener("abort", stop);
    }
  }

  return {
    prepare,
    /** Prepares a body, and returns it as a stream. For HEAD, prepares nothing. */
    async open(call: SnapshotCall, work: Prepare): Promise<ReadableStream<Uint8Array>> {
      // With null the server would send `Content-Length: 0`.
      if (call.request.method === "HEAD") return new ReadableStream();
      return prepare(call, async (signal) => {
        const body = await work(signal);
        await waitForPlace(call.caller, signal);
        return stream(body, call);
      });
    },
  };
}

/** Writes the body. Stops when the client is gone or the response was cut off. */
async function send(
  body: AsyncIterable<Uint8Array>,
  one: Sending,
  controller: ReadableStreamDirectController,
  signal: AbortSignal,
  monotonicMs: () => number,
): Promise<void> {
  one.waitingSince = Infinity;
  for await (const bytes of body) {
    // write() returns a promise if the client does not keep up. When a client disconnects, its
    // pending write resolves as if it had succeeded. Only the signal shows the difference.
    const written: unknown = controller.write(bytes);
    if (written instanceof Promise) {
      const { promise, resolve } = Promise.withResolvers<void>();
      one.wake = resolve;
      one.waitingSince = monotonicMs();
      await Promise.race([written, promise]);
      one.waitingSince = Infinity;
    }
    if (signal.aborted || one.isCutOff) return;
  }
}
