import { constants, createBrotliCompress, createGzip, createZstdCompress } from "node:zlib";
import { readersGoneAfterMs } from "./body.ts";
import type { ListVersion } from "./list.ts";

/** In order of preference, for clients that accept several equally. */
const compressors = {
  zstd: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: () => createGzip({ level: 6 }),
} as const;

export type Encoding = keyof typeof compressors;
const encodings = Object.keys(compressors) as Encoding[];

export function isEncoding(name: string): name is Encoding {
  return Object.hasOwn(compressors, name);
}

/** A shorter list fits into one packet and is not compressed. */
export const compressedBytesMin = 1_400;

export interface ListEncodings {
  /** The compressed version, if it exists. Otherwise may start to compress it for later requests. */
  find(version: ListVersion, encoding: Encoding): Blob | undefined;
  /** Whether `find` would return it. Never starts to compress. */
  has(version: ListVersion, encoding: Encoding): boolean;
}

/**
 * Compresses the list in the background, once per version and encoding, from the second request for
 * it on. Until it is ready, responses are sent uncompressed, which is sooner.
 */
export function createListEncodings(monotonicMs: () => number): ListEncodings {
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
    has: (version, encoding) => version === current && made.get(encoding) instanceof Blob,
    find(version, encoding) {
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
  version: ListVersion,
  encoding: Encoding,
  isWanted: () => boolean,
): Promise<Blob | undefined> {
  const compressor = compressors[encoding]();
  const collected: Uint8Array<ArrayBuffer>[] = [];
  const finished = (async () => {
    for await (const piece of compressor) collected.push(piece as Uint8Array<ArrayBuffer>);
  })();
  for (const chunk of version.chunks) {
    if (!isWanted()) break;
    if (!compressor.write(chunk.bytes)) {
      await new Promise((resolve) => compressor.once("drain", resolve));
    }
  }
  compressor.end();
  await finished;
  return isWanted() ? new Blob(collected) : undefined;
}

const cachedMax = 1_000;
const cached = new Map<string, Encoding | undefined>();

/** The supported encoding that an `Accept-Encoding` prefers; undefined if it accepts none. */
export function preferredEncoding(accept: string | null): Encoding | undefined {
  if (!accept) return undefined;
  if (cached.has(accept)) return cached.get(accept);
  const encoding = parseAccept(accept);
  if (cached.size >= cachedMax) cached.clear();
  if (accept.length <= 200) cached.set(accept, encoding);
  return encoding;
}

function parseAccept(accept: string): Encoding | undefined {
  const weights = new Map<string, number>();
  for (const part of accept.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = quality ? Number(quality.slice(2)) : 1;
    weights.set(name, weight >= 0 && weight <= 1 ? weight : 0);
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get("*") ?? 0;
  // Uncompressed is always acceptable. An encoding with less weight than it is not used.
  const identity = weights.get("identity") ?? 0;
  let best: Encoding | undefined;
  for (const encoding of encodings) {
    const weight = weightOf(encoding);
    if (weight > 0 && weight >= identity && weight > (best ? weightOf(best) : 0)) best = encoding;
  }
  return best;
}
