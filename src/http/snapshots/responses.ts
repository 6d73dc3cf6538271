import { setTimeout as sleep } from "node:timers/promises";
import { failureDetails } from "../../domain/conditions.ts";
import { unavailable } from "../../domain/errors.ts";
import type { Log } from "../../domain/events.ts";

/**
 * Prepares and sends responses that are computed for one request and may be large. Their number is
 * bounded, because each takes CPU time until its first byte and memory until its last. Slow
 * clients cannot keep others out: when all places are taken, the response whose client has received
 * nothing for the longest time is cut off.
 */
export interface SnapshotResponses {
  /**
   * Waits for its turn, prepares a body and returns it as a stream. Preparing must end when the
   * signal is aborted: the client is gone, or it took too long. Throws `unavailable` if too many
   * requests wait.
   */
  open(
    request: Request,
    prepare: (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>,
  ): Promise<ReadableStream<Uint8Array>>;
}

export interface SnapshotBounds {
  readonly preparedMax: number;
  readonly waitingMax: number;
  readonly sentMax: number;
  /** For waiting and preparing. */
  readonly timeoutMs: number;
}

/** A response that is being sent. */
interface Sending {
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
): SnapshotResponses {
  const sending = new Set<Sending>();
  const waiting: (() => void)[] = [];
  let preparing = 0;

  async function enter(signal: AbortSignal): Promise<void> {
    if (preparing < bounds.preparedMax) {
      preparing += 1;
      return;
    }
    if (waiting.length >= bounds.waitingMax) throw unavailable("tooManyRequests");
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    signal.addEventListener("abort", () => resolve());
    await promise;
    const index = waiting.indexOf(resolve);
    // Still in the queue, so it was woken by the signal.
    if (index >= 0) {
      waiting.splice(index, 1);
      throw unavailable("tooManyRequests");
    }
  }

  /** Lets the next one in, in place of the one that leaves. */
  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else preparing -= 1;
  }

  /** Waits until fewer responses than allowed are being sent. */
  async function waitForPlace(signal: AbortSignal): Promise<void> {
    while (sending.size >= bounds.sentMax) {
      if (signal.aborted) throw unavailable("tooManyRequests");
      if (!cutOffSlowest()) await sleep(pollMs);
    }
  }

  function cutOffSlowest(): boolean {
    const [slowest] = [...sending].sort((one, other) => one.waitingSince - other.waitingSince);
    if (!slowest || monotonicMs() - slowest.waitingSince < slowMs) return false;
    slowest.isCutOff = true;
    slowest.wake();
    sending.delete(slowest);
    log("slow reader of a snapshot cut off");
    return true;
  }

  function stream(
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): ReadableStream<Uint8Array> {
    const one: Sending = { waitingSince: monotonicMs(), isCutOff: false, wake: () => {} };
    const end = () => sending.delete(one);
    sending.add(one);
    // A client that is gone before the first byte causes neither a pull nor a cancel.
    signal.addEventListener("abort", end);
    return new ReadableStream({
      type: "direct",
      async pull(controller: ReadableStreamDirectController) {
        try {
          await send(body, one, controller, signal);
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

  /** Writes the body. Stops when the client is gone or the response was cut off. */
  async function send(
    body: AsyncIterable<Uint8Array>,
    one: Sending,
    controller: ReadableStreamDirectController,
    signal: AbortSignal,
  ): Promise<void> {
    one.waitingSince = Infinity;
    for await (const bytes of body) {
      // write() returns a promise if the client does not keep up. When a client disconnects, its
      // pending write resolves as if it had succeeded. Only the signal shows the difference.
      const written: unknown = controller.write(bytes);
      if (written instanceof Promise) await waitFor(one, written);
      if (signal.aborted || one.isCutOff) return;
    }
  }

  async function waitFor(one: Sending, received: Promise<unknown>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    one.wake = resolve;
    one.waitingSince = monotonicMs();
    await Promise.race([received, promise]);
    one.waitingSince = Infinity;
  }

  return {
    async open({ signal }, prepare) {
      const stopping = new AbortController();
      const stop = () => stopping.abort();
      const timer = setTimeout(stop, bounds.timeoutMs);
      signal.addEventListener("abort", stop);
      try {
        await enter(stopping.signal);
        try {
          const body = await prepare(stopping.signal);
          await waitForPlace(stopping.signal);
          return stream(body, signal);
        } finally {
          leave();
        }
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
      }
    },
  };
}
