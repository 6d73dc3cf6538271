import type { Bytes } from "./text.ts";

/** Memory is freed after so many bytes. */
const freedBytes = 524_288;

/**
 * Frees what is no longer used, and these blocks of memory, to which a reader that has ended may still refer.
 * By itself, the runtime waits until that is more than 100 MiB, or as much as is still in use.
 */
export function freeMemory(...blocks: readonly ArrayBufferView[]): void {
  for (const { buffer, byteLength } of blocks) {
    // A small block is a part of one that others use.
    if (byteLength === buffer.byteLength) (buffer as ArrayBuffer).transfer(0);
  }
  Bun.gc(true);
}

/** The same bytes. Frees memory while they are read. */
export async function* freeing(bytes: Bytes | Iterable<Uint8Array>) {
  let length = 0;
  for await (const chunk of bytes) {
    yield chunk;
    length += chunk.length;
    if (length % freedBytes < chunk.length) freeMemory();
  }
}
