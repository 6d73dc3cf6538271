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

// The thresholds of warnings. The doctor, the operator API, the console and the metrics share them, so
// that they agree. test/metrics/deploy.test.ts compares the alerts and the documentation with them.

/** How long before the end of a key or a certificate to warn. Operators need a working fortnight. */
export const endingMs = 14 * dayMs;
/** The share of a limit from which to warn. At a steady rate, 2.4 hours of the day are left to react. */
export const nearLimit = 0.9;
/** A drill that is older is too old. A monthly one may be a few days late. */
export const drillAgeMsMax = 35 * dayMs;

/** True if a key or a certificate ends soon or has ended. */
export function endsSoon(expiresAt: number | null, now: number): boolean {
  return expiresAt !== null && expiresAt <= now + endingMs;
}

/**
 * A backup that is older is too old. With a schedule, one backup may be late or fail, but not two in a
 * row. Without one, a daily backup may start two hours later than the day before.
 */
export function backupAgeMsMax(everyMs: number | null | undefined): number {
  return everyMs ? 2 * everyMs : 26 * 3_600_000;
}

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
  if (certificateExpiresAt === undefined || !endsSoon(certificateExpiresAt, now)) return;
  const at = formatInstant(certificateExpiresAt);
  if (certificateExpiresAt > now) yield warning(view, `The TLS certificate expires at ${at}.`);
  else yield problem(view, `The TLS certificate expired at ${at}.`);
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
  if (now - succeededAt <= backupAgeMsMax(backupEveryMs)) return;
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
  const ending = usable.filter(({ key }) => endsSoon(key.expiresAt, now));
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
