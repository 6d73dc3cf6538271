import type { Batch } from "./batches.ts";

/** What somebody counted, and what the store expected at that moment. */
export interface Count {
  readonly counted: number;
  readonly expected: number;
}

export interface StoredCounts {
  readonly counts: readonly (readonly [petId: string, count: Count])[];
  readonly unfinished: readonly Batch[];
}

/** Production and staging can have the same host. */
const name = `petstore-count-${document.getElementById("console")?.dataset.environment}`;

export function readCounts(): StoredCounts {
  try {
    const text = window.localStorage.getItem(name);
    if (text !== null) return JSON.parse(text) as StoredCounts;
  } catch {
    // A browser without storage, or a text of an earlier version: start with nothing.
  }
  return { counts: [], unfinished: [] };
}

export function writeCounts(stored: StoredCounts): void {
  try {
    if (stored.counts.length + stored.unfinished.length === 0) window.localStorage.removeItem(name);
    else window.localStorage.setItem(name, JSON.stringify(stored));
  } catch {
    // The counts are still on the page. Only a reload would lose them.
  }
}
