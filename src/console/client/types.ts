// The shapes of the operator API, as the console reads them. Pet ids are decimal strings: a number
// would round 64-bit ids.

export type Status = "available" | "pending" | "sold";
export const statuses: readonly Status[] = ["available", "pending", "sold"];

export interface Session {
  readonly operator: { readonly id: string; readonly name: string };
  readonly environment: "production" | "staging";
  readonly version: string;
  readonly expiresAt: string;
}

export interface Stock {
  readonly quantity: number;
  readonly status: Status;
}

/** A row of the ledger. `before` is null if the row created the pet, `after` if it removed it. */
export interface LedgerRow {
  readonly seq: number;
  readonly petId: string;
  readonly before: Stock | null;
  readonly after: Stock | null;
  readonly cause: string;
  readonly keyId: string | null;
  readonly keyName: string | null;
  readonly reason: string | null;
  readonly requestId: string | null;
  readonly at: string;
}

export interface StockEntry extends Stock {
  readonly petId: string;
  readonly version: number;
}

/** What people recognise a pet by. */
export interface PetDescription {
  readonly petId: string;
  readonly name: string;
  readonly category: string | null;
}

export interface ListedEntry extends StockEntry, PetDescription {}

export interface StockList {
  /** Where the feed continues after this list. */
  readonly cursor: string;
  readonly entries: readonly ListedEntry[];
}

export interface Pet extends ListedEntry {
  readonly tags: readonly string[];
  readonly photoUrls: readonly string[];
}
