import type { BackupView } from "../../domain/backups.ts";
import type { ImportRunner } from "../../domain/import-runs.ts";
import type { Environment } from "../../domain/keys.ts";
import type { Usage } from "../../domain/limits.ts";
import type { WebhookSender } from "../../domain/webhooks/sender.ts";

/**
 * What only operations of the operator API use. Made in src/compose/admin.ts, and part of the Context
 * as `admin`.
 */
export interface AdminParts {
  readonly facts: ServiceFacts;
  /** The same as `/readyz`. */
  isReady(): Promise<boolean>;
  /** What the rate limiter of this process knows of a key. It can be newer than what is stored. */
  findUsage(keyId: string): Readonly<Usage> | undefined;
  readonly imports: ImportRunner;
  readonly backups: BackupView;
  /** Which addresses the webhooks of this service may have. */
  readonly webhookUrls: Pick<WebhookSender, "checkUrl">;
  /** Bytes of a file that operators import. */
  readonly importBytesMax: number;
  /** How long a connection may be silent. */
  readonly idleTimeoutSeconds: number;
}

/** What does not change while the service runs. */
export interface ServiceFacts {
  readonly version: string;
  readonly environment: Environment;
  readonly engine: "SQLite" | "PostgreSQL";
  /** The version of the store's schema. */
  readonly schema: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}
