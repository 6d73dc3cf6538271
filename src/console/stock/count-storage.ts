import type { Batch } from "./batches.ts";

/** What somebody counted, and what the store expected at that moment. */
export interface Count {
  readonly counted: number;
  readonly expected: number;
  /** When it was typed, by the clock of the service if that is known, in milliseconds since 1970. */
  readonly at?: number | undefined;
  /** The last position in the ledger that the page had heard of: a cursor, or the number of a row. */
  readonly countedAt: string | number;
  /** True if the page may not have heard of changes before the count. */
  readonly isOffline: boolean;
}

export interface StoredCounts {
  readonly counts: readonly (readonly [petId: string, count: Count])[];
  readonly unfinished: readonly Batch[];
  /** When `unfinished` was sent, in milliseconds since 1970. */
  readonly sentAt: number;
}

export const noCounts: StoredCounts = { counts: [], unfinished: [], sentAt: 0 };

/** The service forgets what was sent after a day or more, and would then apply it a second time. */
export const repeatMsMax = 12 * 3_600_000;

/**
 * Every operator key has its own counts: the service knows a repeated request only by the same key, so
 * what one operator has sent must not be sent again by another. Production and staging can have the
 * same host, but never the same key.
 */
function nameOf(keyId: string): string {
  return `petstore-count-${keyId}`;
}

export function readCounts(keyId: string): StoredCounts {
  try {
    const text = window.localStorage.getItem(nameOf(keyId));
    const stored: StoredCounts = text === null ? noCounts : JSON.parse(text);
    // A count of an earlier version has no moment, so it has to be made again.
    return { ...stored, counts: stored.counts.filter(([, one]) => one.countedAt !== undefined) };
  } catch {
    // A browser without storage, or a text of an earlier version: start with nothing.
    return noCounts;
  }
}

export function writeCounts(keyId: string, stored: StoredCounts): void {
  const name = nameOf(keyId);
  try {
    if (stored.counts.length + stored.unfinished.length === 0) window.localStorage.removeItem(name);
    else window.localStorage.setItem(name, JSON.stringify(stored));
  } catch {
    // The counts are still on the page. Only a reload would lose them.
  }
}
