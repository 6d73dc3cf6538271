import { isCoding } from "./list/encodings.ts";

/**
 * RFC 9110 13.1: what a request may ask of the current state. `tag` is the opaque part of its ETag;
 * each compressed form of the same state has the coding's name behind it, and any of them will do.
 */

/** Whether an If-Match allows the request. Tags are compared strongly: a weak one never matches. */
export function satisfiesIfMatch(header: string, tag: string): boolean {
  if (header.trim() === "*") return true;
  return tagsIn(header).some(({ weak, opaque }) => !weak && namesState(opaque, tag));
}

/** Whether an If-None-Match names the state the client would get. Weak tags will do. */
export function satisfiesIfNoneMatch(header: string, tag: string): boolean {
  if (header.trim() === "*") return true;
  return tagsIn(header).some(({ opaque }) => namesState(opaque, tag));
}

const tagPattern = /(W\/)?"([^"]*)"/g;

/** The tags of a list; none if anything else stands between them. */
function tagsIn(header: string): { weak: boolean; opaque: string }[] {
  if (/[^\s,]/.test(header.replaceAll(tagPattern, ""))) return [];
  return [...header.matchAll(tagPattern)].map(([, weak, opaque = ""]) => ({
    weak: weak !== undefined,
    opaque,
  }));
}

function namesState(opaque: string, tag: string): boolean {
  if (opaque === tag) return true;
  return opaque.startsWith(`${tag}-`) && isCoding(opaque.slice(tag.length + 1));
}
