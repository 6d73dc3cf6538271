import type { Status } from "../client/types.ts";

/** The state of the service, as the API returns it. */
export interface ServiceFacts {
  readonly version: string;
  readonly environment: string;
  readonly engine: string;
  readonly schema: number;
  readonly startedAt: string;
  readonly now: string;
  readonly ledger: { readonly seq: number; readonly hash: string; readonly at: string | null };
  readonly stock: Readonly<Record<Status, StockTotal>>;
  /** The last 60 minutes. The last number is the current minute. */
  readonly changesPerMinute: readonly number[];
  readonly isReady: boolean;
  readonly webhooks: Readonly<Record<"active" | "paused" | "disabled" | "failing", number>>;
  readonly backup: { readonly lastAt: string; readonly ageSeconds: number } | null;
  readonly attention: readonly Attention[];
}

export interface StockTotal {
  readonly entries: number;
  readonly quantity: number;
}

export interface Attention {
  readonly severity: "problem" | "warning";
  readonly text: string;
  /** The name of a view. */
  readonly view: string;
}

/** The requests of the last 24 hours, one number per minute. */
export interface RequestCounts {
  readonly from: string;
  readonly admitted: readonly number[];
  readonly refused: readonly number[];
  readonly withoutKey: readonly number[];
}
