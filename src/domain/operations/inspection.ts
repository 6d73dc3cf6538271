import type { KeyStore } from "../keys/store.ts";
import type { UsageStore } from "../usage/usage.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import type { MaintenanceRecord } from "./maintenance.ts";

/** The times of a store, to compare with the clock of this machine. Milliseconds since 1970. */
export interface StoreTimes {
  /** The clock of the database server. Undefined where there is no server. */
  readonly serverNow: number | undefined;
  /** The last ledger row; 0 when there is none. */
  readonly lastRowAt: number;
  /** The latest window in which requests were counted; 0 when there is none. */
  readonly lastWindowAt: number;
}

/** A value of the database that affects safety or capacity. */
export interface EngineFact {
  readonly name: string;
  readonly result: "ok" | "warning" | "problem";
  readonly found: string;
  readonly advice?: string;
}

/**
 * Looks at a store without creating or changing anything. Every method may throw, because
 * the store may be broken in any way. `readSchema` works on every store that can be opened, the others on
 * one that has the current schema.
 */
export interface StoreInspection
  extends Pick<KeyStore, "listKeys" | "listSecrets">,
    Pick<UsageStore, "loadUsage" | "loadBans"> {
  /** Which database this is, without a password. */
  readonly label: string;
  /** False once the connection was lost. Nothing else can be read then. */
  readonly isOpen: boolean;
  /** The number of the store's schema, or 0 if the database is empty. */
  readSchema(): Promise<number>;
  /** The environment that the store belongs to. */
  findEnvironment(): Promise<string | undefined>;
  /** Throws if the store cannot be written at the moment. */
  checkWritable(): Promise<void>;
  readTimes(): Promise<StoreTimes>;
  /** Whether the ledger has this row with this hash. */
  hasRow(seq: number, hash: string): Promise<boolean>;
  listFacts(): Promise<readonly EngineFact[]>;
  listWebhooks(): Promise<readonly Webhook[]>;
  listMaintenance(): Promise<readonly MaintenanceRecord[]>;
  close(): void;
}
