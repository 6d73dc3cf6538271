import { readStoredJson, store } from "../page/storage.ts";

/** What somebody counted, and what the store expected at that moment. */
export interface Count {
  readonly counted: number;
  readonly expected: number;
  /** When it was typed, by the clock of this device, in milliseconds since 1970. */
  readonly typedAt: number;
  /** The same by the clock of the ledger, if that was known. Null if the ledger cannot place it by its time. */
  readonly at?: number | null | undefined;
  /** The last position in the ledger that the page had heard of: a cursor, or the number of a row. */
  readonly countedAt: string | number;
  /** True if the ledger ended there, as the service said at once. Then the count needs no time. */
  readonly isPlaced?: boolean;
  /** False if `expected` may lack changes before the count: then the service has to be asked. */
  readonly isChecked: boolean;
}

/** Every operator key has its own counts. Production and staging can have the same host, but never the same key. */
export function nameOf(keyId: string | undefined): string {
  return `petstore-counts-${keyId}`;
}

export function readCounts(keyId: string | undefined): ReadonlyMap<string, Count> {
  return new Map(readStoredJson<[string, Count][]>(nameOf(keyId)));
}

/** Returns false if the browser cannot store them. */
export function writeCounts(keyId: string, counts: ReadonlyMap<string, Count>): boolean {
  return store(nameOf(keyId), JSON.stringify([...counts])) || counts.size === 0;
}
