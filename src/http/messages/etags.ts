import type { ExpectedVersion } from "../../domain/ledger/ledger.ts";
import type { VersionedEntry } from "../../domain/ledger/store.ts";
import { isEncoding } from "./encodings.ts";

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

/** Whether a header is `*` or a list of at least one tag. */
export function isTagList(header: string): boolean {
  return header.trim() === "*" || tagsIn(header).length > 0;
}

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

/** The opaque part of an entry's ETag. The epoch keeps it unique after a restore. */
export function entryTag({ entry, epoch }: VersionedEntry): string {
  return `${epoch}-${entry.version}`;
}

/**
 * The versions that an If-Match on an entry allows; undefined allows any. Tags that are weak, or not
 * in the form of an entry's tag, are left out, because they never match.
 */
export function expectedVersions(header: string): readonly ExpectedVersion[] | undefined {
  if (header.trim() === "*") return undefined;
  return tagsIn(header).flatMap(({ weak, opaque }) => {
    const match = weak ? null : /^(.+)-([1-9][0-9]{0,15})$/.exec(opaque);
    return match ? [{ epoch: match[1]!, seq: Number(match[2]) }] : [];
  });
}
