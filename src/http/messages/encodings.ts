import { pipeline, Readable } from "node:stream";
import { constants, createBrotliCompress, createGzip, createZstdCompress } from "node:zlib";

/** They work on another thread. In order of preference, for clients that accept several equally. */
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

/** Compresses a body while it is sent. An error of the body is thrown here, too. */
export async function* compressed(
  body: AsyncIterable<Uint8Array>,
  encoding: Encoding,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  // Also ends the body when the client is gone and nobody reads on. `for await` throws its errors.
  const pieces = pipeline(Readable.from(body), compressors[encoding](), () => {});
  for await (const piece of pieces) yield piece as Uint8Array<ArrayBuffer>;
}

/** Compresses a whole text. */
export async function compressText(
  text: string,
  encoding: Encoding,
): Promise<Uint8Array<ArrayBuffer>> {
  const compressor = compressors[encoding]();
  compressor.end(text);
  return Buffer.concat(await Array.fromAsync(compressor));
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

/** The quality that a header such as `Accept` gives to each name in it (RFC 9110 12.4.2). */
export function weightsIn(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = quality ? Number(quality.slice(2)) : 1;
    weights.set(name, weight >= 0 && weight <= 1 ? weight : 0);
  }
  return weights;
}

function parseAccept(accept: string): Encoding | undefined {
  const weights = weightsIn(accept);
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
