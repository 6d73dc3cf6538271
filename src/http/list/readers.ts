import type { Log } from "../../domain/running/events.ts";
import type { Chunk } from "./chunks.ts";
import type { ListVersion } from "./list.ts";

export type Readers = ReturnType<typeof createReaders>;

/** One response. It holds every chunk that it has not sent yet. */
export interface ListReader {
  /** The next chunk to send; undefined after the last. */
  next(): Chunk | undefined;
  /** Marks that chunk as sent. */
  sent(): void;
  /** Waits until the client has received what was written, or until the response is cut off. */
  waitFor(received: Promise<unknown>): Promise<void>;
  /** True once the response must stop. Its connection must be closed, because the list is incomplete. */
  isCutOff(): boolean;
  /** Releases all chunks. Must be called when the response ends, whether it succeeded or not. */
  end(): void;
}

interface Holder {
  readonly keyId: string;
  readonly unsent: Chunk[];
  isCutOff: boolean;
  /** Ends its wait for the client. Only waiting responses are cut off: they have begun to send. */
  wake: (() => void) | undefined;
  waitingSince: number;
}

const logEveryMs = 60_000;
const none = { own: [] as { holder: Holder; burden: number }[], total: 0 };

/**
 * The responses in progress that stream the list chunk by chunk. A slow one keeps chunks in memory
 * that newer chunks have replaced. This memory is bounded: beyond the bound the slowest responses
 * are cut off, so that slow readers cannot cause errors for others.
 */
export function createReaders(heldBytesMax: number, monotonicMs: () => number, log: Log) {
  const holders = new Set<Holder>();
  /** Bytes of replaced chunks that responses in progress hold. */
  let heldBytes = 0;
  let cutSinceLogged = 0;
  let loggedAt = -logEveryMs;

  function release(chunk: Chunk): void {
    chunk.readers -= 1;
    if (chunk.readers === 0 && chunk.superseded) heldBytes -= chunk.bytes.length;
  }

  function end(holder: Holder): void {
    holders.delete(holder);
    for (const chunk of holder.unsent.splice(0)) release(chunk);
  }

  /**
   * Cuts off responses until the memory is within its bound. The burden of a response is the bytes
   * it holds times the time its client has received nothing. The key with the largest total loses
   * its heaviest response first. This protects clients that read from those that do not, and a key
   * with one slow client from a key with many.
   */
  function makeRoom(): void {
    if (heldBytes <= heldBytesMax) return;
    const now = monotonicMs();
    const burdens = [...holders]
      .filter(({ wake }) => wake !== undefined)
      .map((holder) => ({ holder, burden: burdenOf(holder, now) }))
      .filter(({ burden }) => burden > 0)
      .sort((one, other) => one.burden - other.burden);
    const keys = [...Map.groupBy(burdens, ({ holder }) => holder.keyId).values()].map((own) => ({
      own,
      total: own.reduce((sum, { burden }) => sum + burden, 0),
    }));
    while (heldBytes > heldBytesMax) {
      const most = keys.reduce((one, other) => (other.total > one.total ? other : one), none);
      const heaviest = most.own.pop();
      if (!heaviest) return;
      most.total -= heaviest.burden;
      cutOff(heaviest.holder, now);
    }
  }

  function cutOff(holder: Holder, now: number): void {
    holder.isCutOff = true;
    end(holder);
    holder.wake?.();
    report(holder.keyId, now);
  }

  function report(keyId: string, now: number): void {
    cutSinceLogged += 1;
    if (now - loggedAt < logEveryMs) return;
    log("slow readers cut off", { keyId, responses: cutSinceLogged });
    loggedAt = now;
    cutSinceLogged = 0;
  }

  return {
    begin(version: ListVersion, keyId: string): ListReader {
      const unsent = version.chunks.toReversed();
      const waitingSince = Number.POSITIVE_INFINITY;
      const holder: Holder = { keyId, unsent, isCutOff: false, wake: undefined, waitingSince };
      holders.add(holder);
      for (const chunk of unsent) {
        chunk.readers += 1;
        if (chunk.readers === 1 && chunk.superseded) heldBytes += chunk.bytes.length;
      }
      return {
        next: () => unsent.at(-1),
        sent() {
          const chunk = unsent.pop();
          if (chunk) release(chunk);
        },
        async waitFor(received) {
          const { promise, resolve } = Promise.withResolvers<void>();
          holder.wake = resolve;
          holder.waitingSince = monotonicMs();
          await Promise.race([received, promise]);
          holder.wake = undefined;
        },
        isCutOff: () => holder.isCutOff,
        end: () => end(holder),
      };
    },
    /** Marks chunks as replaced. */
    supersede(chunks: readonly Chunk[]): void {
      for (const chunk of chunks) {
        chunk.superseded = true;
        if (chunk.readers > 0) heldBytes += chunk.bytes.length;
      }
      makeRoom();
    },
  };
}

/** The replaced bytes that a response holds, times how long its client has received nothing. */
function burdenOf(holder: Holder, now: number): number {
  let bytes = 0;
  for (const chunk of holder.unsent) if (chunk.superseded) bytes += chunk.bytes.length;
  return bytes * (now - holder.waitingSince);
}
