import type { KeyStatus } from "../keys/lifecycle.ts";
import { dayMs, formatInstant } from "../values/times.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import type { BackupFile, BackupView } from "./backups.ts";
import { clockErrorMsMax, type MaintenanceRecord } from "./maintenance.ts";
import type { ReplicaView } from "./replica.ts";

// Everything that operators are warned of is judged here, once. The doctor, the operator API, the console
// and the metrics share these rules, so that they agree: test/console/warnings.full.test.ts compares them.
// test/metrics/deploy.test.ts compares the alerts and the documentation with the thresholds.

/** How long before the end of a key or a certificate to warn. Operators need a working fortnight. */
export const endingMs = 14 * dayMs;
/** The share of a limit from which to warn. At a steady rate, 2.4 hours of the day are left to react. */
const nearLimit = 0.9;
/** A drill that is older is too old. A monthly one may be a few days late. */
export const drillAgeMsMax = 35 * dayMs;

/**
 * A backup that is older is too old. With a schedule, one backup may be late or fail, but not two in a
 * row. Without one, a daily backup may start two hours later than the day before.
 */
export function backupAgeMsMax(everyMs: Ms): number {
  return everyMs ? 2 * everyMs : 26 * 3_600_000;
}

/** True if a key or a certificate ends soon or has ended. */
export function endsSoon(expiresAt: number | null, now: number): boolean {
  return expiresAt !== null && expiresAt <= now + endingMs;
}

export function isNearLimit(used: number, limit: number): boolean {
  return used >= nearLimit * limit;
}

/** A key of which requests count. A ban ends by itself. */
export function isUsable({ state }: Pick<KeyStatus, "state">): boolean {
  return state === "active" || state === "banned";
}

/** The state of a webhook, or that its last attempt failed. */
export function conditionOf({ state, failures }: Pick<Webhook, "state" | "failures">) {
  return state === "active" && failures > 0 ? "failing" : state;
}

/** Milliseconds: null if there is no such time, and undefined while that is not known. */
type Ms = number | null | undefined;

/**
 * When the last backup was made, by its record or by its file, the newest first: a restored store has no
 * record of the backups before. The files are undefined while they are not known.
 */
export function lastBackupAt(
  records: readonly MaintenanceRecord[],
  files: readonly BackupFile[] | undefined,
  now: number,
): Ms {
  const record = records.find(({ task }) => task === "backup");
  // A name in the future was given by a wrong clock, and would hide that later backups are missing.
  const file = files?.find(({ createdAt }) => createdAt <= now + clockErrorMsMax);
  return Math.max(record?.succeededAt ?? 0, file?.createdAt ?? 0) || (files && null);
}

/** `problem`: something does not work. `warning`: something may stop working. */
type Severity = "problem" | "warning";
type Verdict = { severity: Severity; fact: "failed" | "none" | "old" } | undefined;

/** Judges the last backup, which was made at the time that `lastBackupAt` returned. */
export function judgeBackup(failedAt: Ms, at: Ms, everyMs: Ms, now: number): Verdict {
  if ((failedAt ?? 0) > (at ?? 0)) return { severity: "problem", fact: "failed" };
  if (at === null) return { severity: "warning", fact: "none" };
  if (at === undefined || now - at <= backupAgeMsMax(everyMs)) return undefined;
  return { severity: everyMs ? "problem" : "warning", fact: "old" };
}

/** Judges the last drill. Without a backup, there is nothing to restore as a test. */
export function judgeDrill(failedAt: Ms, at: Ms, backupAt: Ms, now: number): Verdict {
  if ((failedAt ?? 0) > (at ?? 0)) return { severity: "problem", fact: "failed" };
  if (!backupAt || now - (at ?? 0) <= drillAgeMsMax) return undefined;
  return { severity: "warning", fact: at ? "old" : "none" };
}

/** Something that an operator should look at. */
export interface Attention<Subject extends string = string> {
  readonly severity: Severity;
  /** What it is about, as the doctor calls it. */
  readonly subject: Subject;
  readonly text: string;
  /** The keys or webhooks that it is about. */
  readonly ids: readonly string[];
}

export interface ServiceState {
  readonly now: number;
  readonly isReady: boolean;
  readonly canWrite: boolean;
  /** The acknowledged rows that the store lacked at its start, if that was accepted. */
  readonly lostRows: { readonly found: number; readonly acknowledged: number } | undefined;
  readonly keys: readonly KeyStatus[];
  readonly webhooks: readonly Webhook[];
  readonly maintenance: readonly MaintenanceRecord[];
  readonly backups: Pick<BackupView, "everyMs" | "lastAt" | "listAhead" | "findProblem">;
  readonly replica: ReplicaView | undefined;
  /** When the certificate of the service expires; undefined without one. */
  readonly certificateExpiresAt: number | undefined;
}

/** Lists what needs attention, problems first, and the view of the console that shows more. */
export function listAttention(state: ServiceState) {
  const byView = {
    overview: [...aboutService(state), ...aboutCertificate(state.certificateExpiresAt, state.now)],
    webhooks: [...aboutWebhooks(state.webhooks)],
    backups: [...aboutReplica(state.replica), ...aboutBackups(state)],
    keys: [...aboutKeys(state.keys, state.now)],
  };
  const all = Object.entries(byView).flatMap(([view, found]) =>
    found.map(({ severity, text }) => ({ severity, text, view })),
  );
  const { problem = [], warning = [] } = Object.groupBy(all, ({ severity }) => severity);
  return [...problem, ...warning];
}

function* aboutService({ isReady, canWrite, lostRows }: ServiceState) {
  const broken = (text: string) => about("problem", "store", text);
  if (!canWrite) yield broken("The store cannot be written to. Updates get an error.");
  else if (!isReady) yield broken("The service is not ready. Requests may get errors.");
  if (!lostRows) return;
  const { found, acknowledged } = lostRows;
  const rows = `Acknowledged updates are missing: rows ${found + 1} to ${acknowledged} of the ledger`;
  yield broken(`${rows}. The service was started with --accept-older=${found}.`);
}

export function* aboutCertificate(expiresAt: number | undefined, now: number) {
  if (expiresAt === undefined || !endsSoon(expiresAt, now)) return;
  const hasEnded = expiresAt <= now;
  const text = `certificate ${hasEnded ? "expired" : "expires"} at ${formatInstant(expiresAt)}.`;
  yield about(hasEnded ? "problem" : "warning", "certificate", `The TLS ${text}`);
}

export function* aboutWebhooks(all: readonly Webhook[]) {
  const { disabled, failing, paused } = Object.groupBy(all, conditionOf);
  yield* those("problem", "webhooks", disabled, "disabled, because the receiver returned 410.");
  yield* those("problem", "webhooks", failing, "failing. Deliveries are retried.");
  yield* those("warning", "webhooks", paused, "paused.");
}

function* aboutReplica(replica: ReplicaView | undefined) {
  const error = replica?.runs().error;
  if (error) yield about("problem", "replica", `The continuous copy is not current: ${error}.`);
}

const noneTexts = {
  backup: "There is no backup of the store yet.",
  drill: "No backup was ever restored as a test.",
};

export function* aboutBackups(state: Pick<ServiceState, "backups" | "maintenance" | "now">) {
  const { backups, maintenance, now } = state;
  const [newest, ...others] = backups.listAhead() ?? [];
  if (newest !== undefined) {
    const text = `Backups with changes that the store does not have: ${others.length + 1}.`;
    yield about("problem", "backups ahead", `${text} The newest is ${newest}.`);
  }
  const unread = backups.findProblem();
  if (unread) yield about("problem", "backup", `The backups are not known: ${unread}.`);
  if (unread) return;
  const backupAt = backups.lastAt(maintenance);
  for (const task of ["backup", "drill"] as const) {
    const record = maintenance.find((one) => one.task === task);
    const at = task === "backup" ? backupAt : record?.succeededAt;
    const verdict =
      task === "backup"
        ? judgeBackup(record?.failedAt, at, backups.everyMs, now)
        : judgeDrill(record?.failedAt, at, backupAt, now);
    if (!verdict) continue;
    const texts = {
      failed: `The last ${task} failed: ${record?.error ?? "unknown reason"}`,
      none: noneTexts[task],
      old: `The last ${task} is from ${formatInstant(at ?? 0)}.`,
    };
    yield about(verdict.severity, task, texts[verdict.fact]);
  }
}

export function* aboutKeys(all: readonly KeyStatus[], now: number) {
  const keys = all.filter(isUsable);
  const banned = keys.filter(({ state }) => state === "banned");
  const ending = keys.filter(({ key }) => endsSoon(key.expiresAt, now));
  const full = keys.filter(({ key, usedToday }) => isNearLimit(usedToday, key.limits.perDay));
  const [end] = ending.map(({ key }) => formatInstant(key.expiresAt!)).sort();
  const keysOf = (some: typeof keys) => some.map(({ key }) => key);
  yield* those("warning", "bans", keysOf(banned), "banned for ignoring the rate limit.");
  yield* those("warning", "keys", keysOf(ending), `about to expire, at ${end} or later.`);
  yield* those("warning", "limits", keysOf(full), "close to the daily limit.");
}

/** How many names a text contains. */
const namesMax = 3;

/** "Key 'a' is", or "3 keys ('a', 'b', 'c') are", and the rest of the sentence. */
function* those<Subject extends string>(
  severity: Severity,
  subject: Subject,
  all: readonly { readonly id: string; readonly name: string }[] = [],
  rest: string,
) {
  if (all.length === 0) return;
  const [one, many] = subject === "webhooks" ? ["Webhook", "webhooks"] : ["Key", "keys"];
  const names = all.slice(0, namesMax).map(({ name }) => `'${name}'`);
  const quoted = names.join(", ") + (all.length > namesMax ? ", …" : "");
  const are = all.length === 1 ? `${one} ${quoted} is` : `${all.length} ${many} (${quoted}) are`;
  yield { severity, subject, text: `${are} ${rest}`, ids: all.map(({ id }) => id) };
}

function about<Subject extends string>(severity: Severity, subject: Subject, text: string) {
  return { severity, subject, text, ids: [] };
}
