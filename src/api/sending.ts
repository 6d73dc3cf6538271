import type { Chunk, Listing, ListVersion } from "./listing.ts";

/**
 * How a version of the list becomes a response body. A short list is one Blob, which Bun shares
 * between answers without copying and the kernel's socket buffers swallow whole. A long one is
 * streamed chunk by chunk: a fresh version then costs no join, readers that stall wait without
 * holding a copy, and when they are done can be seen, which no Blob tells.
 */
const blobBytesMax = 1024 * 1024;

export type SentBody = Blob | ReadableStream<Uint8Array>;

const blobs = new WeakMap<ListVersion, Blob>();

export function bodyOf(listing: Listing, version: ListVersion, request: Request): SentBody {
  if (version.byteLength > blobBytesMax) return stream(listing, version, request.signal);
  let blob = blobs.get(version);
  if (!blob) {
    blob = new Blob(version.chunks.map((chunk) => chunk.bytes));
    blobs.set(version, blob);
  }
  return blob;
}

function stream(
  listing: Listing,
  version: ListVersion,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  listing.hold(version);
  const unsent: Chunk[] = version.chunks.slice().reverse();
  const releaseAll = () => {
    for (const chunk of unsent.splice(0)) listing.release(chunk);
  };
  return new ReadableStream({
    type: "direct",
    async pull(controller: ReadableStreamDirectController) {
      try {
        // A reader that went away leaves its write resolved as if all were well: ask the signal.
        while (unsent.length > 0 && !signal.aborted) {
          const chunk = unsent.pop()!;
          try {
            await controller.write(chunk.bytes);
          } finally {
            listing.release(chunk);
          }
        }
        controller.end();
      } finally {
        releaseAll();
      }
    },
    cancel: releaseAll,
  } as unknown as UnderlyingDefaultSource<Uint8Array>);
}
