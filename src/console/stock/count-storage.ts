import type { Batch } from "./batches.ts";

/** What somebody counted, and what the store expected at that moment. */
export interface Count {
  readonly counted: number;
  readonly expected: number;
  /** When it was typed, by the clock of this device, in milliseconds since 1970. */
  readonly typedAt: number;
  /** The same by the clock of the service, if that was known. */
  readonly at?: number | undefined;
  /** The last position in the ledger that the page had heard of: a cursor, or the number of a row. */
  readonly countedAt: string | number;
  /** True if there was no connection. */
  readonly isOffline: boolean;
  /** False if `expected` may lack changes before the count: then the service has to be asked. */
  readonly isChecked: boolean;
  /** True since the person agreed to apply it. */
  readonly isReviewed?: boolean;
}

export interface StoredCounts {
  readonly counts: readonly (readonly [petId: string, count: Count])[];
  readonly unfinished: readonly Batch[];
}

const noCounts: StoredCounts = { counts: [], unfinished: [] };

/** The service forgets what was sent after a day or more, and would then apply it a second time. */
export const repeatMsMax = 12 * 3_600_000;

/**
 * Every operator key has its own counts: the service knows a repeated request only by the same key, so
 * what one operator has sent must not be sent again by another. Production and staging can have the
 * same host, but never the same key.
 */
export function nameOf(keyId: string | undefined): string {
  return `petstore-count-${keyId}`;
}

export function readCounts(keyId: string | undefined): StoredCounts {
  try {
    const text = window.localStorage.getItem(nameOf(keyId));
    const stored: StoredCounts = text === null ? noCounts : JSON.parse(text);
    // A count of an earlier version has no moment, so it has to be made again.
    return { ...stored, counts: stored.counts.filter(([, one]) => one.typedAt !== undefined) };
  } catch {
    // A browser without storage, or a text of an earlier version: start with nothing.
    return noCounts;
  }
}

/** Returns false if the browser cannot store them. */
export function writeCounts(keyId: string, stored: StoredCounts): boolean {
  const name = nameOf(keyId);
  const isEmpty = stored.counts.length + stored.unfinished.length === 0;
  try {
    if (isEmpty) window.localStorage.removeItem(name);
    else window.localStorage.setItem(name, JSON.stringify(stored));
    return true;
  } catch {
    return isEmpty;
  }
}
