import { randomBytes } from "node:crypto";
import { type Page, pageOf, type SeqRange } from "../ledger/store.ts";
import { rowsExaminedMax } from "../values/bounds.ts";

/**
 * The audit log: who changed keys, bans, webhooks, pets and orders. Changes of stock are in the
 * ledger. Like the ledger, the log only grows.
 */

/** A request with an idempotency key: digests of the key and of the request, 32 hexadecimal digits each. */
export interface Once {
  readonly key: string;
  readonly request: string;
}

/** Who made a change. */
export interface Actor {
  /** The id of the operator's key; null for a command. */
  readonly keyId: string | null;
  readonly requestId: string | null;
  /** Set if the client may send the request again. What it makes is then remembered with it. */
  readonly once?: Once | undefined;
}

/** Whoever runs commands has access to the machine, and needs no key. */
export const commandLine: Actor = { keyId: null, requestId: null };

/** A command that makes many changes. The id of its own finds them, to undo them together. */
export function newCommand(): Actor {
  return { keyId: null, requestId: `req_${randomBytes(6).toString("hex")}_1` };
}

/** Who makes a change, and when. */
export interface By {
  readonly actor: Actor;
  readonly now: number;
}

export function byCommand(now: number): By {
  return { actor: commandLine, now };
}

export const auditActions = [
  "key.created",
  "key.changed",
  "key.rotated",
  "key.revoked",
  "ban.lifted",
  "webhook.created",
  "webhook.rotated",
  "webhook.paused",
  "webhook.resumed",
  "webhook.replayed",
  "webhook.tested",
  "webhook.resent",
  "webhook.removed",
  "pet.changed",
  "pets.imported",
  "orders.imported",
  "session.started",
  "session.ended",
  "backup.made",
] as const;
export type AuditAction = (typeof auditActions)[number];

/** A change to record. It is stored in the transaction of the change itself. */
export interface AuditEntry extends Actor {
  readonly action: AuditAction;
  /** The id of what was changed; null if there is no single one. */
  readonly target: string | null;
  /** What was changed. Values of JSON, no secrets. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** An entry as it is stored. `at` is not earlier than in the row before. */
export interface AuditRow extends Omit<AuditEntry, "once"> {
  /** Grows by one with every entry. */
  readonly seq: number;
  /** The name of the operator's key; null for a command. */
  readonly keyName: string | null;
}

export interface AuditFilter extends SeqRange {
  readonly action?: AuditAction | undefined;
  readonly keyId?: string | undefined;
  readonly target?: string | undefined;
}

export interface AuditStore {
  /** Records a change that is stored elsewhere, such as a backup. */
  addEntry(entry: AuditEntry): Promise<void>;
  /** The newest first, at most `rowsMax`. */
  listEntries(filter: AuditFilter, rowsMax: number): Promise<readonly AuditRow[]>;
}

/** Makes an entry about what an actor does at `now`. */
export function auditEntry(
  { actor, now }: By,
  action: AuditAction,
  target: string | null,
  details: AuditEntry["details"] = {},
): AuditEntry {
  const { keyId, requestId, once } = actor;
  return { keyId, requestId, once, action, target, details, at: now };
}

/** One page of the log, the newest row first. Without a filter it is full, except the last. */
export async function listAudit(
  { audit }: { readonly audit: Pick<AuditStore, "listEntries"> },
  { before, ...filter }: Omit<AuditFilter, "after">,
  limit: number,
): Promise<Page<AuditRow>> {
  const [newest] = await audit.listEntries({}, 1);
  if (!newest) return { rows: [], next: undefined };
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const end = Math.min(before ?? Infinity, newest.seq + 1);
  // No index finds rows by their other columns, so a page with a filter may have few rows or none.
  const after = isFiltered ? Math.max(0, end - 1 - rowsExaminedMax) : 0;
  const found = await audit.listEntries({ ...filter, after, before: end }, limit + 1);
  return pageOf(found, limit, after > 0 ? after + 1 : undefined);
}
