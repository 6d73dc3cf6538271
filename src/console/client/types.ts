// Generated from openapi-admin.json by scripts/types.ts. Do not edit.

export const petStatusValues = ["available", "pending", "sold"] as const;

/** The sales status of a pet: `available` for sale, `pending` while a sale is in progress, or `sold`. */
export type PetStatus = (typeof petStatusValues)[number];

/** The stock of one pet. */
export interface InventoryItem {
  /** The ID of the pet. It can be larger than 2^53. */
  readonly petId: string;
  /** The number in stock. */
  readonly quantity: number;
  /** The status of the pet. Stock updates do not change it. */
  readonly status: PetStatus;
}

/** A change to the stock of one pet. It has `quantity` or `delta` or neither, and can have `status`. At least one of the three is required. Unknown fields are rejected. */
export interface StockChange {
  /** The ID of the pet. */
  readonly petId: string;
  /** The new number in stock: the total. */
  readonly quantity?: number;
  /** The number to add to the stock. Negative numbers take from the stock. The result must be from 0 to 2^53 − 1. */
  readonly delta?: number;
  /** The `version` that the entry must have before this change. Without it, any version is accepted. */
  readonly expectedVersion?: number;
  /** Why the stock changes. The ledger keeps it. Control characters are rejected. */
  readonly reason?: string;
  /** The new status. Without it, the status stays as it is. */
  readonly status?: PetStatus;
  /** Makes `quantity` a count: so many were there when the ledger ended with this row (its `seq`, or a cursor of the feed, which is rejected after a restore). What was sold or delivered since is kept; what other counts corrected since is not added again. The `cause` of the row is `count`, and its reason ends with the numbers. */
  readonly countedAt?: number | string;
  /** When it was counted, for a count without a connection, which does not hear of every row: those after `countedAt` that were stored by then belong before the count. By the clock that `POST /stocktakes` returns. The count is rejected if this is in the future, or while that clock is behind the last row. Leave it out if `countedAt` was the end of the ledger when you counted. */
  readonly countedTime?: string;
}

/** The stock of one pet, with its version. */
export interface VersionedItem extends InventoryItem {
  /** The version of the entry: the number of the change that made it. Send it as `expectedVersion`. */
  readonly version: number;
  /** The stock before the change. Only in the response to a dry run. */
  readonly before?: Stock;
}

/** The results of a batch of changes. */
export interface AppliedChanges {
  /** The entry after each change, in the order of the request. In a dry run, as it would be, with its current `version`. */
  readonly entries: readonly VersionedItem[];
  /** True if nothing was stored. Only in the response to a dry run. */
  readonly dryRun?: boolean;
}

export const orderStatusValues = ["placed", "approved", "delivered"] as const;

/** The progress of an order: `placed`, then `approved`, then `delivered`. */
export type OrderStatus = (typeof orderStatusValues)[number];

/** An order. Orders do not change the stock. */
export interface Order {
  /** The ID of the order. */
  readonly id: string;
  /** The ID of the ordered pet. */
  readonly petId: string;
  /** The number ordered. */
  readonly quantity: number;
  /** The shipping date and time in UTC, or null if none is set. */
  readonly shipDate: string | null;
  /** The progress of the order. */
  readonly status: OrderStatus;
  /** Whether the order is complete. */
  readonly complete: boolean;
}

/** The quantity and the status of a pet at one moment. */
export interface Stock {
  /** The number in stock. */
  readonly quantity: number;
  /** The status of the pet. */
  readonly status: PetStatus;
}

/** One change to the stock of one pet. Rows are never changed or removed. */
export interface LedgerRow {
  /** The number of the row. Rows are numbered from 1 without gaps, in the order in which they were stored. */
  readonly seq: number;
  /** The ID of the pet. */
  readonly petId: string;
  /** The stock before the change, or null if the change added the pet. */
  readonly before: Stock | null;
  /** The stock after the change, or null if the change removed the pet. */
  readonly after: Stock | null;
  /** What caused the change: `api` for a request, `import` for an import by an operator, `undo` for an operator who undid an earlier change, `console` for an operator who changed the stock in the console or with the operator API, `count` for a stocktake. Later versions can add causes. */
  readonly cause: string;
  /** The ID of the API key or operator key, or null if no key caused the change. */
  readonly keyId: string | null;
  /** The current name of that key, or null if the key is not known. */
  readonly keyName: string | null;
  /** The reason that the client or operator gave, or null. */
  readonly reason: string | null;
  /** The `X-Request-Id` of the request that caused the change, or null. */
  readonly requestId: string | null;
  /** When the change was stored, in UTC with milliseconds. It never decreases from row to row. Several rows can have the same time. */
  readonly at: string;
}

/** The end of the ledger. */
export interface LedgerHead {
  /** The number of the last row, or 0 if the ledger is empty. */
  readonly seq: number;
  /** The hash of the last row, in hexadecimal digits. It covers all rows up to this one. The hash of an empty ledger is the SHA-256 of an empty string. */
  readonly hash: string;
  /** When the last row was stored, or null if the ledger is empty. */
  readonly at: string | null;
}

/** The error that a request got. Its body, its query and secrets are not kept. */
export interface RequestError {
  /** When the response was sent. */
  readonly at: string;
  /** The method. */
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  /** The status of the response. */
  readonly status: number;
  /** The error code of the response. */
  readonly code: string;
  /** The message of the response. */
  readonly message: string;
  /** From the arrival of the request until its response, in milliseconds. */
  readonly durationMs: number;
  /** The header `User-Agent`, or null. */
  readonly userAgent: string | null;
}

/** `refused`: it got a 4xx. `failed`: it got a 5xx. Nothing was stored then, and nothing will be. `stored`: `changes` has what it stored. `unknown`: none of these is certain. */
export type RequestOutcomeOutcome = "refused" | "failed" | "stored" | "unknown";

/** What became of a request. */
export interface RequestOutcome {
  /** The ID of the request. */
  readonly requestId: string;
  readonly outcome: RequestOutcomeOutcome;
  /** What to do now, in a sentence or two. */
  readonly advice: string;
  /** The error that it got, or null if none is known. */
  readonly error: RequestError | null;
  /** What it stored. At most 1,000 rows. */
  readonly changes: readonly LedgerRow[];
}

/** A line of a batch that breaks a rule, so nothing of the batch was stored. */
export interface FailedLine {
  /** The index of the line, from 0. */
  readonly index: number;
  /** The ID of its pet. */
  readonly petId: string;
  /** What is wrong with this line: an error code. */
  readonly code: string;
  /** How many it takes. Only if it takes more than there are. */
  readonly requested?: number;
  /** How many there are for it: the lines before it that are not at fault have taken theirs. Only with `requested`. */
  readonly available?: number;
}

/** What the operator can do. */
export type OperatorRole = "viewer" | "clerk" | "owner";

/** An operator: the owner of an operator key. */
export interface Operator {
  /** The ID of the operator key. */
  readonly id: string;
  /** The name of the operator key. */
  readonly name: string;
  readonly role: OperatorRole;
}

/** The environment of the service. */
export type SessionEnvironment = "production" | "staging";

/** Who is signed in, and where. */
export interface Session {
  /** Who is signed in. */
  readonly operator: Operator;
  readonly environment: SessionEnvironment;
  /** The version of the service. */
  readonly version: string;
  /** When the session ends by itself. For a request with a key, when the key expires; null if it does not. */
  readonly expiresAt: string | null;
}

/** How many requests a key can send. */
export interface KeyLimits {
  /** Requests per minute. */
  readonly perMinute: number;
  /** Requests per day. */
  readonly perDay: number;
}

/** How much of a limit is used. */
export interface KeyUse {
  /** Requests that were counted. */
  readonly used: number;
  /** The limit. After a change to a smaller plan, `used` can be larger. */
  readonly limit: number;
  /** When the count starts again. */
  readonly resetsAt: string;
}

/** One secret of a key. The secret itself is not stored. */
export interface KeySecret {
  /** When it was created. */
  readonly createdAt: string;
  /** When it expires, or null if it does not. */
  readonly expiresAt: string | null;
}

/** `api` for clients of the store, `operator` for this API. */
export type KeyKind = "api" | "operator";

export type KeyPlan = "free" | "pro" | "business" | "enterprise";

export type KeyScopes =
  | "inventory:read"
  | "inventory:write"
  | "pets:read"
  | "orders:read"
  | "history:read"
  | "operator:viewer"
  | "operator:clerk"
  | "operator";

/** `active` if the key is accepted. Otherwise, why it is not. */
export type KeyState = "active" | "banned" | "expired" | "revoked";

/** A key in its current state. */
export interface Key {
  /** The ID of the key. */
  readonly id: string;
  /** The name of the key. */
  readonly name: string;
  readonly kind: KeyKind;
  /** The role of an operator key, or null for an API key. */
  readonly role: OperatorRole | null;
  /** The plan of the key, or null for an operator key. */
  readonly plan: KeyPlan | null;
  /** The limits of the key. */
  readonly limits: KeyLimits;
  /** What the key can do. */
  readonly scopes: readonly KeyScopes[];
  readonly state: KeyState;
  /** When the key was created. */
  readonly createdAt: string;
  /** When the key expires, or null for never. */
  readonly expiresAt: string | null;
  /** When the key was revoked, or null. */
  readonly revokedAt: string | null;
  /** When the last request was counted, or null if there was none. */
  readonly lastUsedAt: string | null;
  /** When the ban ends, or null if there is none. */
  readonly bannedUntil: string | null;
  /** The requests in this UTC minute. With several instances, the latest requests to the others can be missing. */
  readonly minute: KeyUse;
  /** The requests in this UTC day. */
  readonly day: KeyUse;
  /** The secrets of the key that are accepted, the oldest first. During a rotation, there are several. */
  readonly secrets: readonly KeySecret[];
}

/** A new key with its secret. */
export interface IssuedKey extends Key {
  /** The secret of the key. It is shown only in this response. */
  readonly key: string;
}

/** A key with its new secret. */
export interface RotatedKey extends IssuedKey {
  /** When the old secret expires. */
  readonly oldValidUntil: string;
}

export type NewKeyScopes =
  | "inventory:read"
  | "inventory:write"
  | "pets:read"
  | "orders:read"
  | "history:read";

/** A key to create. Unknown fields are rejected. */
export interface NewKey {
  /** The name of the key, for operators. */
  readonly name: string;
  readonly plan?: KeyPlan;
  /** Requests per minute. Only for the plan `enterprise`, which requires it. */
  readonly perMinute?: number;
  /** Requests per day. Only for the plan `enterprise`, which requires it. */
  readonly perDay?: number;
  /** What the key can do. By default, a new key has all scopes. Not for operator keys. */
  readonly scopes?: readonly NewKeyScopes[];
  /** When the key expires. Null for never. */
  readonly expiresAt?: string | null;
  readonly role?: OperatorRole;
  readonly kind?: KeyKind;
}

/** The fields to change. Other fields stay as they are. Unknown fields are rejected. */
export interface KeyChange {
  /** The name of the key, for operators. */
  readonly name?: string;
  readonly plan?: KeyPlan;
  /** Requests per minute. Only for the plan `enterprise`, which requires it. */
  readonly perMinute?: number;
  /** Requests per day. Only for the plan `enterprise`, which requires it. */
  readonly perDay?: number;
  /** What the key can do. By default, a new key has all scopes. Not for operator keys. */
  readonly scopes?: readonly NewKeyScopes[];
  /** When the key expires. Null for never. */
  readonly expiresAt?: string | null;
  readonly role?: OperatorRole;
}

/** Something that an operator did. Rows are never changed or removed. */
export interface AuditRow {
  /** The number of the row. */
  readonly seq: number;
  /** When it was done. */
  readonly at: string;
  /** The ID of the operator key, or null for a command. */
  readonly keyId: string | null;
  /** The current name of that key, or null. */
  readonly keyName: string | null;
  /** The `X-Request-Id` of the request, or null for a command. */
  readonly requestId: string | null;
  /** What was done: `key.created`, `key.changed`, `key.rotated`, `key.revoked`, `ban.lifted`, `webhook.created`, `webhook.rotated`, `webhook.paused`, `webhook.resumed`, `webhook.replayed`, `webhook.tested`, `webhook.resent`, `webhook.removed`, `pet.changed`, `pets.imported`, `orders.imported`, `session.started`, `session.ended`, `backup.made`. Later versions can add actions. */
  readonly action: string;
  /** The ID of the key, webhook or pet, the name of the backup, or null if there is no single one. */
  readonly target: string | null;
  /** What was changed. It never contains secrets. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** The entries with one status. */
export interface StockTotal {
  /** The number of entries. */
  readonly entries: number;
  /** The sum of their quantities. At most 2^53 − 1. */
  readonly quantity: number;
}

/** The stock by status. */
export interface StockTotals {
  /** Entries that are available. */
  readonly available: StockTotal;
  /** Entries that are pending. */
  readonly pending: StockTotal;
  /** Entries that are sold. */
  readonly sold: StockTotal;
}

/** The number of webhooks in each state. */
export interface WebhookCounts {
  /** Webhooks that deliver. */
  readonly active: number;
  /** Webhooks that are paused. */
  readonly paused: number;
  /** Webhooks that are disabled, because the receiver returned 410. */
  readonly disabled: number;
  /** Active webhooks whose last attempt failed. */
  readonly failing: number;
}

/** The last backup that succeeded. */
export interface LastBackup {
  /** When it ended, or was started if only its file is known. */
  readonly lastAt: string;
  /** The time since then, in seconds. */
  readonly ageSeconds: number;
}

/** `problem` if something does not work, `warning` if something may stop working. */
export type AttentionSeverity = "problem" | "warning";

/** Something that an operator should look at. */
export interface Attention {
  readonly severity: AttentionSeverity;
  /** What it is, in a sentence. */
  readonly text: string;
  /** The view of the console that shows more. */
  readonly view: string;
}

/** The database engine. */
export type ServiceEngine = "SQLite" | "PostgreSQL";

/** The state of the service. */
export interface Service {
  /** The version of the service. */
  readonly version: string;
  readonly environment: SessionEnvironment;
  readonly engine: ServiceEngine;
  /** The number of the store's schema. */
  readonly schema: number;
  /** When this instance was started. */
  readonly startedAt: string;
  /** The current time of the service. */
  readonly now: string;
  /** The end of the ledger. */
  readonly ledger: LedgerHead;
  /** The stock by status. */
  readonly stock: StockTotals;
  /** The default threshold, set by `--low-stock-at`, or null. */
  readonly lowStockAt: number | null;
  /** The number of entries that are low. An entry is low if its quantity is at most its threshold: the lowStockAt of the pet or, without one, the default of the store. Without either it is never low. */
  readonly lowEntries: number;
  /** The changes in each of the last 60 minutes, the oldest first. The last value is the current minute so far. */
  readonly changesPerMinute: readonly number[];
  /** Whether `/readyz` returns 200. */
  readonly isReady: boolean;
  /** The webhooks. */
  readonly webhooks: WebhookCounts;
  /** The last backup, or null if there is none. */
  readonly backup: LastBackup | null;
  /** What an operator should look at, problems first. Only owners see what is about keys, webhooks and backups. */
  readonly attention: readonly Attention[];
}

/** A problem with a row of the file. */
export interface ImportProblem {
  /** The line on which the row starts. */
  readonly line: number;
  /** The column. Null if the problem concerns the whole row or the file. */
  readonly column: string | null;
  /** The value, shortened. Null if there is none. */
  readonly value: string | null;
  /** The rule that is broken: the end of a sentence that starts with column and value. */
  readonly rule: string;
}

/** What is wrong with the file. */
export interface ImportProblems {
  /** How many problems there are. */
  readonly total: number;
  /** The first 50 problems, in the order of the file. */
  readonly rows: readonly ImportProblem[];
  /** What to do if the file seems to have another format. */
  readonly hint: string | null;
}

/** What the import would change in one field. */
export interface ImportDifference {
  /** The ID of the pet or of the order. */
  readonly id: string;
  /** The name of the field. */
  readonly field: string;
  /** The value in the store. Null for a new pet or order. */
  readonly from: unknown;
  /** The value in the file. */
  readonly to: unknown;
}

/** What the import would change. */
export interface ImportDifferences {
  /** How many differences there are. 0 unless this was a dry run. */
  readonly total: number;
  /** The first 1000 differences, by ascending ID. There are fewer if their values are long. */
  readonly rows: readonly ImportDifference[];
}

/** A column of the file. */
export interface ImportColumn {
  /** Its header. */
  readonly header: string;
  /** The field that it is imported as, or `ignore`. Null if it is unknown. */
  readonly field: string | null;
}

/** The result of an import, or of its dry run. */
export interface Import {
  /** True if nothing was changed. */
  readonly dryRun: boolean;
  /** How many pets or orders are new. */
  readonly created: number;
  /** How many existing ones change. */
  readonly changed: number;
  /** How many existing ones stay the same. */
  readonly unchanged: number;
  /** If there is a problem, no row is imported. */
  readonly problems: ImportProblems;
  /** Only a dry run lists differences. */
  readonly differences: ImportDifferences;
  /** Only a dry run of CSV or a workbook lists columns. */
  readonly columns: readonly ImportColumn[];
}

export type WebhookFilterCauses = "api" | "import" | "undo" | "console" | "count";

/** Which changes a webhook receives. A change must match every field that is not null or false. */
export interface WebhookFilter {
  /** Only changes of these pets. */
  readonly pets: readonly string[] | null;
  /** Only changes after which a pet has one of these statuses. */
  readonly statuses: readonly PetStatus[] | null;
  /** Only changes with one of these causes. */
  readonly causes: readonly WebhookFilterCauses[] | null;
  /** Only changes in which the quantity fell below this number. */
  readonly below: number | null;
  /** Whether only changes are sent by which an entry became low. An entry is low if its quantity is at most its threshold: the lowStockAt of the pet or, without one, the default of the store. Without either it is never low. The threshold counts that the entry has when the change is read for delivery. */
  readonly becomesLow: boolean;
}

/** `paused`: by an operator, or because every attempt failed for days. `disabled`: the receiver returned 410. */
export type WebhookState = "active" | "paused" | "disabled";

/** An address that changes are sent to. */
export interface Webhook {
  /** The ID of the webhook. */
  readonly id: string;
  /** The name of the webhook, for operators. */
  readonly name: string;
  /** The address that receives the changes. */
  readonly url: string;
  readonly state: WebhookState;
  /** Why it is not active. Null while it is. */
  readonly stateReason: string | null;
  /** When it was created. */
  readonly createdAt: string;
  /** Which changes it receives. */
  readonly filter: WebhookFilter;
  /** The last ledger row that was delivered, or that the filter excluded. */
  readonly cursor: number;
  /** How many ledger rows come after the cursor. */
  readonly behind: number;
  /** Attempts that failed since the last success. */
  readonly failures: number;
  /** When the first of these attempts failed. */
  readonly failingSince: string | null;
  /** When the next attempt is made. Null if none is scheduled. */
  readonly nextAttemptAt: string | null;
  /** Until when messages are also signed with the previous secret. */
  readonly oldSecretUntil: string | null;
}

/** One attempt to deliver a message. */
export interface WebhookAttempt {
  /** When it was made. */
  readonly at: string;
  /** The ID of the message. */
  readonly messageId: string;
  /** The first change in the message, or 0 for a test message. */
  readonly firstSeq: number;
  /** The last change in the message, or 0 for a test message. */
  readonly lastSeq: number;
  /** How many changes the message has. A test message has none. */
  readonly changes: number;
  /** How long the attempt took, in milliseconds. */
  readonly durationMs: number;
  /** The HTTP status. Null if no response arrived. */
  readonly status: number | null;
  /** Why no response arrived. Null if one did. */
  readonly error: string | null;
  /** The beginning of the response body. */
  readonly answer: string;
}

/** A webhook and its last attempts. */
export interface WebhookWithAttempts extends Webhook {
  /** The last attempts, the newest first. */
  readonly attempts: readonly WebhookAttempt[];
}

/** A webhook and its new secret. */
export interface WebhookWithSecret extends Webhook {
  /** The secret that signs the messages. It is shown only in this response. */
  readonly secret: string;
}

/** A new webhook and its secret. */
export interface CreatedWebhook extends WebhookWithSecret {
  /** False if the host of the URL does not resolve at the moment. */
  readonly isResolved: boolean;
}

/** A webhook to create. Fields that are null count as not given. Unknown fields are rejected. */
export interface NewWebhook {
  /** The address that receives the changes. It must use https and be public. */
  readonly url: string;
  /** The name of the webhook, for operators. By default, the host of the URL. */
  readonly name?: string | null;
  /** Only changes of these pets. An ID can be a string, to keep all its digits. */
  readonly pets?: readonly string[] | null;
  /** Only changes after which a pet has one of these statuses. */
  readonly statuses?: readonly PetStatus[] | null;
  /** Only changes with one of these causes. */
  readonly causes?: readonly WebhookFilterCauses[] | null;
  /** Only changes in which the quantity fell below this number. */
  readonly below?: number | null;
  /** Whether only changes are sent by which an entry became low. An entry is low if its quantity is at most its threshold: the lowStockAt of the pet or, without one, the default of the store. Without either it is never low. The threshold counts that the entry has when the change is read for delivery. */
  readonly becomesLow?: boolean | null;
  /** The ledger row of the first change to deliver. By default, the next one. */
  readonly from?: number | null;
}

/** A backup that the service made. */
export interface BackupFile {
  /** The name of the file in the folder. */
  readonly name: string;
  /** The size of the file. */
  readonly bytes: number;
  /** When the backup was started. */
  readonly createdAt: string;
}

/** The last runs of a task. */
export interface MaintenanceRuns {
  /** When the service last started it. Null if only commands have run it. */
  readonly startedAt: string | null;
  /** When it last succeeded. */
  readonly succeededAt: string | null;
  /** When it last failed. */
  readonly failedAt: string | null;
  /** Why it last failed. */
  readonly error: string | null;
}

/** The backups that the service makes, and their folder. */
export interface Backups {
  /** The folder on the machine of the service, or the address of a bucket. */
  readonly folder: string;
  /** The time between two scheduled backups, in seconds. Null without a schedule. */
  readonly everySeconds: number | null;
  /** How many backups the service keeps. */
  readonly keep: number;
  /** When the last backup was made, by its record or its file. */
  readonly lastAt: string | null;
  /** The last runs of the backup. Null if there were none. */
  readonly last: MaintenanceRuns | null;
  /** The last runs of the drill. Null if there were none. */
  readonly drill: MaintenanceRuns | null;
  /** The last checks of the continuous copy. It has every update from before `succeededAt`. Null without `--replica-check`. */
  readonly replica: MaintenanceRuns | null;
  /** The newest first, at most 1,000. */
  readonly files: readonly BackupFile[];
}

/** A new backup. */
export interface MadeBackup extends BackupFile {
  /** The last ledger row that it contains. */
  readonly seq: number;
}

/** The stock of one pet, with its name. */
export interface NamedEntry {
  /** The ID of the pet. It can be larger than 2^53. */
  readonly petId: string;
  /** The name of the pet. */
  readonly name: string;
  /** The category of the pet, or null. */
  readonly category: string | null;
  /** The barcode of the pet. No other pet has it. */
  readonly barcode?: string;
  /** The stock of the pet is low at this quantity and below. */
  readonly lowStockAt?: number;
  /** The number in stock. */
  readonly quantity: number;
  /** The status of the pet. */
  readonly status: PetStatus;
  /** The version of the entry. Send it as `expectedVersion`. */
  readonly version: number;
}

/** The stock of all pets. */
export interface StockList {
  /** Where to continue with the feed. It was read before the entries. */
  readonly cursor: string;
  /** One entry for each pet, by ascending `petId`. */
  readonly entries: readonly NamedEntry[];
}

/** What was sold of one pet. */
export interface SoldPet {
  /** The ID of the pet. */
  readonly petId: string;
  /** The units sold. */
  readonly sold: number;
}

/** What was sold of all pets. */
export interface SalesList {
  /** The number of days: today and those before it, in UTC. */
  readonly days: number;
  /** Each pet that was sold, by ascending `petId`. */
  readonly pets: readonly SoldPet[];
}

/** A pet with its stock. */
export interface PetDetails {
  /** The ID of the pet. */
  readonly petId: string;
  /** The name of the pet. */
  readonly name: string;
  /** The category of the pet, or null. */
  readonly category: string | null;
  /** Labels that the store uses to group pets. */
  readonly tags: readonly string[];
  /** URLs of photos, in display order. */
  readonly photoUrls: readonly string[];
  /** The barcode of the pet. No other pet has it. */
  readonly barcode: string | null;
  /** The stock of the pet is low at this quantity and below. */
  readonly lowStockAt: number | null;
  /** The number in stock. */
  readonly quantity: number;
  /** The status of the pet. */
  readonly status: PetStatus;
  /** The version of the entry. Send it as `expectedVersion`. */
  readonly version: number;
}

/** The name of a pet, and what else lists show of it. */
export interface PetName {
  /** The ID of the pet. */
  readonly petId: string;
  /** The name of the pet. */
  readonly name: string;
  /** The category of the pet, or null. */
  readonly category: string | null;
  /** The barcode of the pet. No other pet has it. */
  readonly barcode?: string;
  /** The stock of the pet is low at this quantity and below. */
  readonly lowStockAt?: number;
}

/** What to change about a pet. Fields that are not given stay as they are. Unknown fields are rejected. */
export interface PetChange {
  /** The name of the pet. */
  readonly name?: string;
  /** The category of the pet, or null. */
  readonly category?: string | null;
  /** Labels that the store uses to group pets. */
  readonly tags?: readonly string[];
  /** URLs of photos, in display order. */
  readonly photoUrls?: readonly string[];
  /** The barcode of the pet. No other pet has it. */
  readonly barcode?: string | null;
  /** The stock of the pet is low at this quantity and below. */
  readonly lowStockAt?: number | null;
}

export const petChangeFields = [
  { name: "name", label: "Name", kind: "text", isRequired: true },
  { name: "category", label: "Category", kind: "text", isRequired: false },
  { name: "tags", label: "Tags", kind: "list", isRequired: false },
  { name: "photoUrls", label: "Photo URLs", kind: "list", isRequired: false },
  { name: "barcode", label: "Barcode", kind: "text", isRequired: false },
  { name: "lowStockAt", label: "Low stock at", kind: "number", isRequired: false },
] as const;

/** The length of a point. Minutes and days are in UTC. */
export type UsageStep = "minute" | "day";

/** The requests of one key over time. */
export interface Usage {
  readonly step: UsageStep;
  /** When the first point starts. */
  readonly from: string;
  /** The admitted requests at each point. The last point is the current one. */
  readonly admitted: readonly number[];
  /** The requests at each point that were refused because of the rate limit or a ban. */
  readonly refused: readonly number[];
}

/** The requests of all keys over time. */
export interface TotalUsage extends Usage {
  /** The requests at each point without a valid key. The other lists do not include them. */
  readonly withoutKey: readonly number[];
}

/** What one operator has counted. */
export interface Stocktake {
  /** The name of the operator key. */
  readonly keyName: string;
  /** The pets that were counted and whose counts are not applied yet. */
  readonly pets: readonly string[];
}

/** What other operators have counted. */
export interface StocktakeList {
  /** The end of the ledger, for `countedAt` of what you count now. It includes every change that was confirmed before you sent the request. */
  readonly cursor: string;
  /** The time by the clock that the times of changes come from, for `countedTime` of what you count without a connection. */
  readonly now: string;
  /** Those of the last 24 hours, the latest first. At most 50. */
  readonly others: readonly Stocktake[];
}

/** What an undo does with the stock of one pet. */
export interface UndonePet {
  /** The ID of the pet. */
  readonly petId: string;
  /** The stock without the undo, or null if the pet was removed. */
  readonly before: Stock | null;
  /** The stock with the undo, or null if the pet is left out. */
  readonly after: Stock | null;
  /** Why the pet is left out or needs `force`, or null. For people. */
  readonly why: string | null;
}

/** What was undone, or what a dry run found. */
export interface Undone {
  /** The last change that was looked at. Send it with the undo. */
  readonly asOf: number;
  /** How many changes were found. */
  readonly rows: number;
  /** How many pets get a new row in the ledger. */
  readonly undone: number;
  /** How many pets were changed since, and are undone only with `force`. */
  readonly changed: number;
  /** How many pets cannot be undone. */
  readonly leftOut: number;
  /** The first 200 pets. Those that are changed or left out come first. */
  readonly pets: readonly UndonePet[];
}

/** A request that got an error. */
export interface RefusedRequest extends RequestError {
  /** The number of the row. Numbers have gaps. */
  readonly seq: number;
  /** The `X-Request-Id` of the response. */
  readonly requestId: string;
  /** The ID of the API key, or null if none or an unknown one was sent. */
  readonly keyId: string | null;
  /** The current name of that key, or null. */
  readonly keyName: string | null;
}
