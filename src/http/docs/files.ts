import { createHash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { satisfiesIfNoneMatch } from "../etags.ts";
import { type Encoding as Coding, preferredEncoding } from "../list/encodings.ts";
import type { Page } from "../pages.ts";

const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const compress: Record<Coding, (text: string) => Uint8Array<ArrayBuffer>> = {
  zstd: (text) => new Uint8Array(zstdCompressSync(text)),
  br: (text) => new Uint8Array(brotliCompressSync(text, quality)),
  gzip: (text) => new Uint8Array(gzipSync(text)),
};

/** Below this a text fits into one packet anyway. */
const charactersMin = 1_400;

/**
 * A text that many ask for and that changes only with the version: it has an ETag, browsers may keep
 * it and ask whether it is still current, and each compressed form is made once, when it is first
 * asked for.
 */
export function createFile(text: string, headers: Readonly<Record<string, string>>): Page {
  const tag = createHash("sha256").update(text).digest("base64url").slice(0, 22);
  const made = new Map<Coding, Uint8Array<ArrayBuffer>>();

  function inCoding(coding: Coding): Uint8Array<ArrayBuffer> {
    let bytes = made.get(coding);
    if (!bytes) {
      bytes = compress[coding](text);
      made.set(coding, bytes);
    }
    return bytes;
  }

  return (request) => {
    const accepted = preferredEncoding(request.headers.get("accept-encoding"));
    const coding = text.length < charactersMin ? undefined : accepted;
    const etag = coding ? `"${tag}-${coding}"` : `"${tag}"`;
    const caching = { ETag: etag, "Cache-Control": "no-cache", Vary: "Accept-Encoding" };
    const known = request.headers.get("if-none-match");
    if (known !== null && satisfiesIfNoneMatch(known, tag)) {
      return new Response(null, { status: 304, headers: caching });
    }
    const all = { ...headers, ...caching, ...(coding ? { "Content-Encoding": coding } : {}) };
    return new Response(coding ? inCoding(coding) : text, { headers: all });
  };
}
