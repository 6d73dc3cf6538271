import type { Chunk, Listing, ListVersion } from "./listing.ts";

/**
 * How a version of the list becomes a response body.
 *
 * A Blob is the cheapest: Bun sends its bytes without copying them and shares it between answers.
 * But it has to be joined from the chunks, and nobody can see when its last reader is done. A
 * stream of chunks costs a fifth or more to send and nothing to make; readers that stall share the
 * chunks, and say when they are done.
 *
 * So a short list is always a Blob: joining it takes microseconds, and the kernel's socket buffers
 * swallow it whole. A long list is streamed when it is fresh and becomes a Blob on its second
 * reading, but only if every reader of the Blob before it must be gone by now: connections that
 * take less than `slowestBytesPerMs` fall silent for longer than the idle timeout and are closed.
 * So however many slow readers there are, they hold one old Blob, and chunks, which are counted.
 */
export interface Sender {
  bodyOf(version: ListVersion, request: Request): SentBody;
}

export type SentBody = Blob | ReadableStream<Uint8Array>;

const shortBytesMax = 1024 * 1024;
const slowestBytesPerMs = 100;

/** How long until the last reader of so many bytes in one Blob must be gone. */
export function goneAfterMs(byteLength: number): number {
  return byteLength <= shortBytesMax ? 0 : byteLength / slowestBytesPerMs;
}

export function createSender(listing: Listing, monotonicMs: () => number): Sender {
  const blobs = new WeakMap<ListVersion, Blob>();
  const readBefore = new WeakSet<ListVersion>();
  let longBlobAllowedAt = 0;

  function isWorthJoining(version: ListVersion): boolean {
    if (version.byteLength <= shortBytesMax) return true;
    if (!readBefore.has(version)) {
      readBefore.add(version);
      return false;
    }
    const now = monotonicMs();
    if (now < longBlobAllowedAt) return false;
    longBlobAllowedAt = now + goneAfterMs(version.byteLength);
    return true;
  }

  return {
    bodyOf(version, request) {
      const blob = blobs.get(version);
      if (blob) return blob;
      if (!isWorthJoining(version)) return stream(listing, version, request.signal);
      const joined = new Blob(version.chunks.map((chunk) => chunk.bytes));
      blobs.set(version, joined);
      return joined;
    },
  };
}

function stream(
  listing: Listing,
  version: ListVersion,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  listing.hold(version);
  const unsent: Chunk[] = version.chunks.toReversed();
  const releaseAll = () => {
    for (const chunk of unsent.splice(0)) listing.release(chunk);
  };
  return new ReadableStream({
    type: "direct",
    async pull(controller: ReadableStreamDirectController) {
      try {
        // A reader that went away leaves its write resolved as if all were well: ask the signal.
        while (unsent.length > 0 && !signal.aborted) {
          await controller.write(unsent.at(-1)!.bytes);
          const sent = unsent.pop();
          if (sent) listing.release(sent);
        }
        controller.end();
      } finally {
        releaseAll();
      }
    },
    cancel: releaseAll,
  } as unknown as UnderlyingDefaultSource<Uint8Array>);
}
