import { constants, createBrotliCompress, createGzip, createZstdCompress } from "node:zlib";
import { goneAfterMs } from "./body.ts";
import type { ListVersion } from "./list.ts";

/** In order of preference where a client takes several alike. */
const compressors = {
  zstd: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: () => createGzip({ level: 6 }),
} as const;

export type Coding = keyof typeof compressors;
const codings = Object.keys(compressors) as Coding[];

export function isCoding(name: string): name is Coding {
  return Object.hasOwn(compressors, name);
}

/** Below this a list fits into one packet anyway, and is not compressed. */
export const compressedBytesMin = 1_400;

export interface Codings {
  /** The version in this coding if it is there already; otherwise it may be made for later. */
  find(version: ListVersion, coding: Coding): Blob | undefined;
  /** Whether `find` would give it; nothing is made for the asking. */
  has(version: ListVersion, coding: Coding): boolean;
}

/**
 * Compressed versions of the list, made in the background and once. A version is worth it from
 * the second time it is asked for; until it is there, answers go out uncompressed, which is sooner.
 */
export function createCodings(monotonicMs: () => number): Codings {
  let current: ListVersion | undefined;
  let made = new Map<Coding, Blob | "asked" | "making">();
  /** One at a time: a list that changes faster than it compresses must not pile up work. */
  let busy = false;
  /** As with any Blob: none is made while slow readers may still hold the long one before it. */
  let allowedAt = 0;

  async function make(version: ListVersion, coding: Coding): Promise<void> {
    busy = true;
    try {
      const blob = await compress(version, coding, () => version === current);
      if (version !== current || !blob) return;
      made.set(coding, blob);
      allowedAt = monotonicMs() + goneAfterMs(blob.size);
    } catch {
      // Out of memory or the like: the list is still there uncompressed.
    } finally {
      busy = false;
    }
  }

  return {
    has: (version, coding) => version === current && made.get(coding) instanceof Blob,
    find(version, coding) {
      if (version !== current) {
        current = version;
        made = new Map();
      }
      const state = made.get(coding);
      if (state instanceof Blob) return state;
      if (state === undefined) made.set(coding, "asked");
      else if (state === "asked" && !busy && monotonicMs() >= allowedAt) {
        made.set(coding, "making");
        void make(version, coding);
      }
      return undefined;
    },
  };
}

async function compress(
  version: ListVersion,
  coding: Coding,
  isWanted: () => boolean,
): Promise<Blob | undefined> {
  const compressor = compressors[coding]();
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

const rememberedMax = 1_000;
const remembered = new Map<string, Coding | undefined>();

/** The coding a client likes best among ours, by its `Accept-Encoding`; undefined for none. */
export function preferredCoding(accept: string | null): Coding | undefined {
  if (!accept) return undefined;
  if (remembered.has(accept)) return remembered.get(accept);
  const coding = parseAccept(accept);
  if (remembered.size >= rememberedMax) remembered.clear();
  if (accept.length <= 200) remembered.set(accept, coding);
  return coding;
}

function parseAccept(accept: string): Coding | undefined {
  const weights = new Map<string, number>();
  for (const part of accept.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = quality ? Number(quality.slice(2)) : 1;
    weights.set(name, weight >= 0 && weight <= 1 ? weight : 0);
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get("*") ?? 0;
  // Uncompressed is always good; a coding liked less than it is not worth the work.
  const identity = weights.get("identity") ?? 0;
  let best: Coding | undefined;
  for (const coding of codings) {
    const weight = weightOf(coding);
    if (weight > 0 && weight >= identity && weight > (best ? weightOf(best) : 0)) best = coding;
  }
  return best;
}
