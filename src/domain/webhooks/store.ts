import type { AuditEntry } from "../audit/audit.ts";
import type { Webhook, WebhookAttempt, WebhookProgress, WebhookState } from "./webhook.ts";

/** The fields that an operator can change. Fields that are not given stay. */
export type WebhookChange = Partial<
  Pick<Webhook, "state" | "stateReason" | "secrets" | "replays"> & WebhookProgress
>;

/** What the process that delivers a webhook has done since it last saved. */
export interface Delivered {
  readonly id: string;
  /** As the process knows it. After a replay, progress from before it is not saved. */
  readonly replays: number;
  readonly progress: WebhookProgress;
  /** Set if the delivery pauses or disables the webhook. Stored only if it is still active. */
  readonly ended?: { readonly state: WebhookState; readonly reason: string } | undefined;
  /** In the order in which they were made. */
  readonly attempts: readonly WebhookAttempt[];
}

/** Stores webhooks and their delivery logs. */
export interface WebhookStore {
  /** All webhooks, in the order in which they were created. */
  listWebhooks(): Promise<readonly Webhook[]>;
  findWebhook(id: string): Promise<Webhook | undefined>;
  addWebhook(webhook: Webhook, entry: AuditEntry): Promise<void>;
  /** Changes a webhook if it is still at `version`, and increments the version. */
  changeWebhook(
    id: string,
    version: number,
    change: WebhookChange,
    entry: AuditEntry,
  ): Promise<boolean>;
  /** Removes a webhook with its log. Returns false if there is none. */
  removeWebhook(id: string, entry: AuditEntry): Promise<boolean>;
  /** Adds an attempt that an operator asked for to the log. Returns false if there is no such webhook. */
  addAttempt(id: string, attempt: WebhookAttempt, entry: AuditEntry): Promise<boolean>;
  /** The last attempts, the newest first. */
  listAttempts(id: string, attemptsMax: number): Promise<readonly WebhookAttempt[]>;
  /**
   * Gives `holder` the lease of every active webhook that no other process holds, and extends the
   * leases it has. Returns all active webhooks that it now holds, each for `leaseMs` from the time
   * of the call. Only one process serves a SQLite store. There, another holder is a process that has
   * ended, and leases do not expire.
   */
  claimWebhooks(holder: string, leaseMs: number): Promise<readonly Webhook[]>;
  /** Gives up all leases, so that another process can continue at once. */
  releaseWebhooks(holder: string): Promise<void>;
  /**
   * Saves the progress of webhooks, and adds to their logs, which keep the last `attemptsKept`
   * attempts. Skips webhooks that another process has claimed since `holder` did, and those that were
   * replayed or removed. Returns the ids of the others. `delivered` has each webhook at most once.
   */
  saveDelivered(holder: string, delivered: readonly Delivered[]): Promise<readonly string[]>;
}
