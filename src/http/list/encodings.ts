import { compressed, type Encoding } from "../messages/encodings.ts";
import { readersGoneAfterMs } from "./body.ts";
import type { ListVersion } from "./list.ts";

/** A shorter list fits into one packet and is not compressed. */
export const compressedBytesMin = 1_400;

export type ListEncodings = ReturnType<typeof createListEncodings>;

/**
 * Compresses the list in the background, once per version and encoding, from the second request for
 * it on. Until it is ready, responses are sent uncompressed, which is sooner.
 */
export function createListEncodings(monotonicMs: () => number) {
  let current: ListVersion | undefined;
  let made = new Map<Encoding, Blob | "requested" | "compressing">();
  /** One at a time, so that work cannot pile up if the list changes faster than it compresses. */
  let busy = false;
  /** No new Blob is made while slow readers may hold the long one before it. */
  let allowedAt = 0;

  async function make(version: ListVersion, encoding: Encoding): Promise<void> {
    busy = true;
    try {
      const blob = await compress(version, encoding, () => version === current);
      if (version !== current || !blob) return;
      made.set(encoding, blob);
      allowedAt = monotonicMs() + readersGoneAfterMs(blob.size);
    } catch {
      // For example out of memory. Responses stay uncompressed.
    } finally {
      busy = false;
    }
  }

  return {
    /** Whether `find` would return it. Never starts to compress. */
    has: (version: ListVersion, encoding: Encoding): boolean =>
      version === current && made.get(encoding) instanceof Blob,
    /** The compressed version, if it exists. Otherwise may start to compress it for later requests. */
    find(version: ListVersion, encoding: Encoding): Blob | undefined {
      if (version !== current) {
        current = version;
        made = new Map();
      }
      const state = made.get(encoding);
      if (state instanceof Blob) return state;
      if (state === undefined) made.set(encoding, "requested");
      else if (state === "requested" && !busy && monotonicMs() >= allowedAt) {
        made.set(encoding, "compressing");
        void make(version, encoding);
      }
      return undefined;
    },
  };
}

async function compress(
  { chunks }: ListVersion,
  encoding: Encoding,
  isWanted: () => boolean,
): Promise<Blob | undefined> {
  async function* wanted() {
    for (const { bytes } of chunks) if (isWanted()) yield bytes;
  }
  const pieces = await Array.fromAsync(compressed(wanted(), encoding));
  return isWanted() ? new Blob(pieces) : undefined;
}
