import type { Log } from "../../domain/ports.ts";
import type { Chunk } from "./chunks.ts";
import type { ListVersion } from "./list.ts";

/**
 * The answers under way that send a list chunk by chunk. A slow one keeps chunks in memory that
 * newer ones have replaced. What they keep is bounded: beyond the bound the slowest answers are
 * cut off, so that no reader is refused because of another.
 */
export interface Readers {
  begin(version: ListVersion, keyId: string): ListReader;
  /** Newer chunks have taken the place of these. */
  supersede(chunks: readonly Chunk[]): void;
}

/** One answer. It keeps every chunk that it has not sent yet. */
export interface ListReader {
  /** The chunk to send next; undefined when there is none. */
  next(): Chunk | undefined;
  /** That chunk was sent. */
  sent(): void;
  /** Waits until the client has taken what was written, or the answer is cut off. */
  waitFor(taken: Promise<unknown>): Promise<void>;
  /** True once the answer must not go on: its connection has to be closed, the list is not whole. */
  isCutOff(): boolean;
  /** Gives up all chunks. To be called in the end, whatever happened. */
  end(): void;
}

interface Holder {
  readonly keyId: string;
  readonly unsent: Chunk[];
  isCutOff: boolean;
  /** Ends its wait for the client. Only answers that wait are cut off: a part of them was sent. */
  wake: (() => void) | undefined;
  waitingSince: number;
}

const logEveryMs = 60_000;
const nobody = { own: [] as { holder: Holder; burden: number }[], total: 0 };

export function createReaders(heldBytesMax: number, monotonicMs: () => number, log: Log): Readers {
  const holders = new Set<Holder>();
  /** Bytes of superseded chunks that answers under way keep alive. */
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
   * Cuts off answers until there is room again. What an answer holds counts by how long its client
   * has taken nothing. The key whose answers add up to most pays first. So a client that reads is
   * safe from those that do not, and a key with one slow client from a key with many.
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
      const most = keys.reduce((one, other) => (other.total > one.total ? other : one), nobody);
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
    log("slow readers cut off", { keyId, answers: cutSinceLogged });
    loggedAt = now;
    cutSinceLogged = 0;
  }

  return {
    begin(version, keyId) {
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
        async waitFor(taken) {
          const { promise, resolve } = Promise.withResolvers<void>();
          holder.wake = resolve;
          holder.waitingSince = monotonicMs();
          await Promise.race([taken, promise]);
          holder.wake = undefined;
        },
        isCutOff: () => holder.isCutOff,
        end: () => end(holder),
      };
    },
    supersede(chunks) {
      for (const chunk of chunks) {
        chunk.superseded = true;
        if (chunk.readers > 0) heldBytes += chunk.bytes.length;
      }
      makeRoom();
    },
  };
}

/** The superseded bytes that an answer holds, times how long its client has taken nothing. */
function burdenOf(holder: Holder, now: number): number {
  let bytes = 0;
  for (const chunk of holder.unsent) if (chunk.superseded) bytes += chunk.bytes.length;
  return bytes * (now - holder.waitingSince);
}
