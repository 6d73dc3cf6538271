import type { AuditStore } from "./audit/audit.ts";
import type { MadeStore } from "./audit/made.ts";
import type { StocktakeStore } from "./catalogue/stocktakes.ts";
import type { CatalogueStore } from "./catalogue/store.ts";
import type { KeyStore, SessionStore } from "./keys/store.ts";
import type { LedgerParts } from "./ledger/store.ts";
import type { MaintenanceStore } from "./operations/maintenance.ts";
import type { RequestStore } from "./requests/store.ts";
import type { SalesStore } from "./sales/sales.ts";
import type { CheckpointStore } from "./snapshots/store.ts";
import type { UsageStore } from "./usage/usage.ts";
import type { UsageHistoryStore } from "./usage/usage-history.ts";
import type { TransferStore } from "./verification/store.ts";
import type { WebhookStore } from "./webhooks/store.ts";

/**
 * Everything that a store keeps, by what it is for. Every write is one transaction and durable when
 * its promise resolves. An engine that cannot be reached or has no space throws a ServiceError
 * `unavailable`; the outcome of that write is then unknown.
 */
export interface Store extends LedgerParts {
  readonly checkpoints: CheckpointStore;
  readonly catalogue: CatalogueStore;
  readonly keys: KeyStore;
  readonly sessions: SessionStore;
  readonly usage: UsageStore;
  readonly usageHistory: UsageHistoryStore;
  readonly sales: SalesStore;
  readonly requests: RequestStore;
  readonly webhooks: WebhookStore;
  readonly maintenance: MaintenanceStore;
  readonly stocktakes: StocktakeStore;
  readonly audit: AuditStore;
  readonly made: MadeStore;
  readonly transfer: TransferStore;
  close(): Promise<void>;
}
