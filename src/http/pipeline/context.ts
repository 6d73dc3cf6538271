import type { LongWork } from "../../domain/catalogue/import-runs.ts";
import type { Environment } from "../../domain/keys/keys.ts";
import type { FindUsage } from "../../domain/keys/lifecycle.ts";
import type { ServiceState } from "../../domain/operations/attention.ts";
import type { BackupView } from "../../domain/operations/backups.ts";
import type { RequestRecorder } from "../../domain/requests/recorder.ts";
import type { Shop } from "../../domain/shop/shop.ts";
import type { ChangeCounts } from "../../domain/usage/change-counts.ts";
import type { UsageRecorder } from "../../domain/usage/usage-recorder.ts";
import type { SendMessage } from "../../domain/webhooks/requested-messages.ts";
import type { WebhookSender } from "../../domain/webhooks/sender.ts";
import type { Feed } from "../feed/feed.ts";
import type { ListBodies } from "../list/body.ts";
import type { ListEncodings } from "../list/encodings.ts";
import type { InventoryList } from "../list/list.ts";
import type { SnapshotResponses } from "../snapshots/responses.ts";

/** Everything that operations use: the shop, the list as bytes, long responses, the feed, and more. */
export interface Context extends Shop {
  readonly list: {
    readonly versions: InventoryList;
    readonly encodings: ListEncodings;
    readonly bodies: ListBodies;
  };
  readonly snapshots: SnapshotResponses;
  readonly feed: Feed;
  readonly requests: Pick<RequestRecorder, "findUnsaved" | "dropped">;
  /** What only the operator API uses. */
  readonly admin: AdminParts;
}

/**
 * What only operations of the operator API use. Made in src/compose/admin.ts, and part of the Context
 * as `admin`.
 */
export interface AdminParts {
  readonly facts: ServiceFacts;
  /** The same as `/readyz`. */
  isReady(): Promise<boolean>;
  /** How many requests keys sent, over time. */
  readonly usage: Pick<UsageRecorder, "chart">;
  readonly findUsage: FindUsage;
  readonly changeCounts: ChangeCounts;
  /** When the certificate of the service expires; undefined without one. */
  certificateExpiresAt(): number | undefined;
  /** The acknowledged rows that the store lacked at its start, if that was accepted. */
  readonly lostRows: ServiceState["lostRows"];
  readonly work: LongWork;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  readonly backups: BackupView;
  /** Which addresses the webhooks of this service may have. */
  readonly webhookUrls: Pick<WebhookSender, "checkUrl">;
  readonly sendMessage: SendMessage;
  /** Bytes of a file that operators import. */
  readonly importBytesMax: number;
  /** How long a connection may be silent. */
  readonly idleTimeoutSeconds: number;
}

/** What does not change while the service runs. */
export interface ServiceFacts {
  readonly version: string;
  readonly environment: Environment;
  /** The threshold of pets that have none of their own. */
  readonly lowStockAt: number | null;
  readonly engine: "SQLite" | "PostgreSQL";
  /** The version of the store's schema. */
  readonly schema: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}
