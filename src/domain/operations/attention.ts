import type { KeyStatus } from "../keys/lifecycle.ts";
import { dayMs } from "../limits/limits.ts";
import { formatInstant } from "../values/times.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import type { MaintenanceRecord } from "./maintenance.ts";

/** Something that an operator should look at. */
export interface Attention {
  /** `problem`: something does not work. `warning`: something may stop working. */
  readonly severity: "problem" | "warning";
  readonly text: string;
  /** The view of the console that shows more. */
  readonly view: "overview" | "keys" | "webhooks" | "backups";
}

export interface ServiceState {
  readonly now: number;
  readonly isReady: boolean;
  readonly canWrite: boolean;
  /** The acknowledged rows that the store lacked at its start, if that was accepted. */
  readonly lostRows: { readonly found: number; readonly acknowledged: number } | undefined;
  readonly keys: readonly KeyStatus[];
  readonly webhooks: readonly Webhook[];
  readonly backup: MaintenanceRecord | undefined;
  /** How many backups have ledger rows that the store does not have. */
  readonly backupsAhead: number;
  /** Why the last check of the continuous copy failed, if it did. */
  readonly replicaError: string | null | undefined;
  /** Undefined if the service makes no backups by itself. */
  readonly backupEveryMs: number | undefined;
  /** When the certificate of the service expires; undefined without one. */
  readonly certificateExpiresAt: number | undefined;
}

/** The time before the end of a key or a certificate from which operators are warned. */
const endingMs = 7 * dayMs;
/** The share of the requests of a day from which operators are warned. */
const nearLimit = 0.9;
/** The age from which a backup is old, if the service makes none by itself. */
const oldBackupMs = 7 * dayMs;
/** How many intervals a backup may be late. */
const lateIntervals = 2;

/** Lists what needs attention, problems first. */
export function listAttention(state: ServiceState): readonly Attention[] {
  const all = [
    ...aboutService(state),
    ...aboutWebhooks(state),
    ...aboutBackups(state),
    ...aboutKeys(state),
  ];
  return [
    ...all.filter(({ severity }) => severity === "problem"),
    ...all.filter(({ severity }) => severity === "warning"),
  ];
}

function* aboutService(state: ServiceState) {
  const { isReady, canWrite, lostRows, certificateExpiresAt, now } = state;
  const view = "overview" as const;
  if (!canWrite) yield problem(view, "The store cannot be written to. Updates get an error.");
  else if (!isReady) yield problem(view, "The service is not ready. Requests may get errors.");
  if (lostRows) {
    const { found, acknowledged } = lostRows;
    const rows = `Acknowledged updates are missing: rows ${found + 1} to ${acknowledged} of the ledger`;
    yield problem(view, `${rows}. The service was started with --accept-older=${found}.`);
  }
  if (certificateExpiresAt === undefined || certificateExpiresAt > now + endingMs) return;
  const verb = certificateExpiresAt > now ? "expires at" : "expired at";
  yield problem(view, `The TLS certificate ${verb} ${formatInstant(certificateExpiresAt)}.`);
}

function* aboutWebhooks({ webhooks }: ServiceState) {
  const view = "webhooks" as const;
  const disabled = webhooks.filter(({ state }) => state === "disabled");
  const paused = webhooks.filter(({ state }) => state === "paused");
  const failing = webhooks.filter(({ state, failures }) => state === "active" && failures > 0);
  const some = (those: readonly Webhook[]) => named("webhook", those);
  if (disabled.length > 0) {
    yield problem(view, `${some(disabled)} disabled, because the receiver returned 410.`);
  }
  if (failing.length > 0) yield problem(view, `${some(failing)} failing. Deliveries are retried.`);
  if (paused.length > 0) yield warning(view, `${some(paused)} paused.`);
}

function* aboutBackups({ backup, backupsAhead, replicaError, backupEveryMs, now }: ServiceState) {
  const view = "backups" as const;
  if (replicaError) yield problem(view, `The continuous copy is not current: ${replicaError}.`);
  if (backupsAhead > 0) {
    yield problem(view, `Backups with changes that the store does not have: ${backupsAhead}.`);
  }
  const { succeededAt = null, failedAt = null, error } = backup ?? {};
  if (failedAt !== null && failedAt > (succeededAt ?? 0)) {
    yield problem(view, `The last backup failed: ${error ?? "unknown reason"}`);
  }
  if (succeededAt === null) {
    yield warning(view, "There is no backup of the store yet.");
    return;
  }
  const bound = backupEveryMs === undefined ? oldBackupMs : lateIntervals * backupEveryMs;
  if (now - succeededAt <= bound) return;
  const text = `The last backup is from ${formatInstant(succeededAt)}.`;
  yield backupEveryMs === undefined ? warning(view, text) : problem(view, text);
}

function* aboutKeys({ keys, now }: ServiceState) {
  const view = "keys" as const;
  const some = (those: readonly KeyStatus[]) =>
    named(
      "key",
      those.map(({ key }) => key),
    );
  const usable = keys.filter(({ state }) => state === "active" || state === "banned");
  const banned = usable.filter(({ state }) => state === "banned");
  const ending = usable.filter(({ key }) => (key.expiresAt ?? Infinity) <= now + endingMs);
  const full = usable.filter(({ key, usedToday }) => usedToday >= nearLimit * key.limits.perDay);
  if (banned.length > 0) {
    yield warning(view, `${some(banned)} banned for ignoring the rate limit.`);
  }
  if (ending.length > 0) {
    const end = Math.min(...ending.map(({ key }) => key.expiresAt!));
    yield warning(view, `${some(ending)} about to expire, at ${formatInstant(end)} or later.`);
  }
  if (full.length > 0) yield warning(view, `${some(full)} close to the daily limit.`);
}

/** How many names a text contains. */
const namesMax = 3;

/** "Key 'a' is", or "3 keys ('a', 'b', 'c') are". */
function named(noun: "key" | "webhook", those: readonly { readonly name: string }[]): string {
  const quoted = those.slice(0, namesMax).map(({ name }) => `'${name}'`);
  if (those.length === 1) return `${noun === "key" ? "Key" : "Webhook"} ${quoted[0]} is`;
  const more = those.length > namesMax ? ", …" : "";
  return `${those.length} ${noun}s (${quoted.join(", ")}${more}) are`;
}

function problem(view: Attention["view"], text: string): Attention {
  return { severity: "problem", text, view };
}

function warning(view: Attention["view"], text: string): Attention {
  return { severity: "warning", text, view };
}
