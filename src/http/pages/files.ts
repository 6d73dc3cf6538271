import { createHash } from "node:crypto";
import { compressText, type Encoding, preferredEncoding } from "../messages/encodings.ts";
import { satisfiesIfNoneMatch } from "../messages/headers.ts";
import type { Page } from "./pages.ts";

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

  return async (request) => {
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
    if (!encoding) return new Response(text, { headers: all });
    const bytes = compressed.get(encoding) ?? (await compressText(text, encoding));
    compressed.set(encoding, bytes);
    return new Response(bytes, { headers: all });
  };
}

/** Makes the page when it is first requested, so that the start does not wait for it. */
export function onFirstRequest(make: () => Page): Page {
  let page: Page | undefined;
  return (request, origin) => {
    page ??= make();
    return page(request, origin);
  };
}
