import { createHash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { type Encoding, preferredEncoding } from "../messages/encodings.ts";
import { satisfiesIfNoneMatch } from "../messages/headers.ts";
import type { Page } from "./pages.ts";

const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const compress: Record<Encoding, (text: string) => Uint8Array<ArrayBuffer>> = {
  zstd: (text) => new Uint8Array(zstdCompressSync(text)),
  br: (text) => new Uint8Array(brotliCompressSync(text, quality)),
  gzip: (text) => new Uint8Array(gzipSync(text)),
};

/** A shorter text fits into one packet, so compression gains nothing. */
const compressedCharactersMin = 1_400;

/**
 * Serves a text that changes only with the release. It has an ETag, so browsers can cache and
 * revalidate it, unless `cacheControl` says that it never changes. The ETag and each compressed form are
 * created once, on the first request that needs them.
 */
export function createFile(
  text: string,
  headers: Readonly<Record<string, string>>,
  cacheControl = "no-cache",
): Page {
  let tag: string | undefined;
  const compressed = new Map<Encoding, Uint8Array<ArrayBuffer>>();

  function compressedAs(encoding: Encoding): Uint8Array<ArrayBuffer> {
    let bytes = compressed.get(encoding);
    if (!bytes) {
      bytes = compress[encoding](text);
      compressed.set(encoding, bytes);
    }
    return bytes;
  }

  return (request) => {
    tag ??= createHash("sha256").update(text).digest("base64url").slice(0, 22);
    const isShort = text.length < compressedCharactersMin;
    const accept = request.headers.get("accept-encoding");
    const encoding = isShort ? undefined : preferredEncoding(accept);
    const etag = encoding ? `"${tag}-${encoding}"` : `"${tag}"`;
    const caching = { ETag: etag, "Cache-Control": cacheControl, Vary: "Accept-Encoding" };
    const ifNoneMatch = request.headers.get("if-none-match");
    if (ifNoneMatch !== null && satisfiesIfNoneMatch(ifNoneMatch, tag)) {
      return new Response(null, { status: 304, headers: caching });
    }
    const all = { ...headers, ...caching, ...(encoding ? { "Content-Encoding": encoding } : {}) };
    return new Response(encoding ? compressedAs(encoding) : text, { headers: all });
  };
}

/** Makes the page when it is first requested, so that the start does not wait for it. */
export function onFirstRequest(make: () => Page): Page {
  let page: Page | undefined;
  return (request) => {
    page ??= make();
    return page(request);
  };
}
