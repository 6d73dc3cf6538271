import { isEncoding } from "./list/encodings.ts";

/**
 * Preconditions (RFC 9110 13.1). `tag` is the opaque part of the current ETag. The ETag of a
 * compressed form ends with the name of its encoding; every form matches.
 */

/** Whether an If-Match allows the request. Compares strongly: a weak tag never matches. */
export function satisfiesIfMatch(header: string, tag: string): boolean {
  if (header.trim() === "*") return true;
  return tagsIn(header).some(({ weak, opaque }) => !weak && matchesState(opaque, tag));
}

/** Whether an If-None-Match contains the current state. Weak tags match. */
export function satisfiesIfNoneMatch(header: string, tag: string): boolean {
  if (header.trim() === "*") return true;
  return tagsIn(header).some(({ opaque }) => matchesState(opaque, tag));
}

const tagPattern = /(W\/)?"([^"]*)"/g;

/** The tags of a list. A list with anything else between the tags has none. */
function tagsIn(header: string): { weak: boolean; opaque: string }[] {
  if (/[^\s,]/.test(header.replaceAll(tagPattern, ""))) return [];
  return [...header.matchAll(tagPattern)].map(([, weak, opaque = ""]) => ({
    weak: weak !== undefined,
    opaque,
  }));
}

function matchesState(opaque: string, tag: string): boolean {
  if (opaque === tag) return true;
  return opaque.startsWith(`${tag}-`) && isEncoding(opaque.slice(tag.length + 1));
}
