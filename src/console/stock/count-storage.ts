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
}

/** The service forgets what was sent after a day or more, and would then apply it a second time. */
export const repeatMsMax = 12 * 3_600_000;

/** Every operator key has its own counts. Production and staging can have the same host, but never the same key. */
export function nameOf(keyId: string | undefined): string {
  return `petstore-count-${keyId}`;
}

export function readCounts(keyId: string | undefined): ReadonlyMap<string, Count> {
  try {
    return new Map(JSON.parse(window.localStorage.getItem(nameOf(keyId)) ?? "[]"));
  } catch {
    // A browser without storage, or a text of an earlier version: start with nothing.
    return new Map();
  }
}

/** Returns false if the browser cannot store them. */
export function writeCounts(keyId: string, counts: ReadonlyMap<string, Count>): boolean {
  try {
    if (counts.size === 0) window.localStorage.removeItem(nameOf(keyId));
    else window.localStorage.setItem(nameOf(keyId), JSON.stringify([...counts]));
    return true;
  } catch {
    return counts.size === 0;
  }
}
