import type { Batch } from "./batches.ts";

/** What somebody counted, and what the store expected at that moment. */
export interface Count {
  readonly counted: number;
  readonly expected: number;
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
    if (text !== null) return JSON.parse(text) as StoredCounts;
  } catch {
    // A browser without storage, or a text of an earlier version: start with nothing.
  }
  return noCounts;
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
