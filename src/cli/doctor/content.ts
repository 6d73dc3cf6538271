import { listAhead } from "../../backup/ahead.ts";
import { listBackups } from "../../backup/folder.ts";
import { openPlace } from "../../backup/locate.ts";
import type { Config } from "../../config.ts";
import { backupAgeMsMax, drillAgeMsMax, endsSoon } from "../../domain/operations/attention.ts";
import type { StoreInspection } from "../../domain/operations/inspection.ts";
import type { MaintenanceTask } from "../../domain/operations/maintenance.ts";
import { isInForce } from "../../domain/usage/usage.ts";
import { formatInstant } from "../../domain/values/times.ts";
import { hasOwnBackups } from "../../opening/creation.ts";
import { type Check, day, type Found, formatAge, listed, ok, problem, warning } from "./finding.ts";

const advice = "Another session may hold a lock. If not, run petstore verify.";

const folderAdvice = "Check --backup-folder and --backup-key-file. See docs/object-storage.md.";

/** Checks of what the store contains: backups, keys, bans and webhooks. */
export function contentChecks(inspection: StoreInspection, config: Config): readonly Check[] {
  return [
    ["backup", folderAdvice, () => checkBackup(inspection, config)],
    ["drill", advice, () => checkDrill(inspection)],
    ["keys", advice, () => checkKeys(inspection)],
    ["secrets", advice, () => checkSecrets(inspection)],
    ["bans", advice, () => checkBans(inspection)],
    ["webhooks", advice, () => checkWebhooks(inspection)],
  ];
}

/** When a task last succeeded, and the failure since then. */
async function readOutcome(inspection: StoreInspection, wanted: MaintenanceTask) {
  const record = (await inspection.listMaintenance()).find(({ task }) => task === wanted);
  const { succeededAt = null, failedAt = null, error } = record ?? {};
  const hasFailed = failedAt !== null && failedAt > (succeededAt ?? 0);
  const failure = hasFailed && `the last one failed at ${formatInstant(failedAt)}: ${error}`;
  return { succeededAt, failure };
}

async function checkBackup(inspection: StoreInspection, config: Config): Promise<Found> {
  const { backupEveryMs, backupFolder, environment } = config;
  const place = openPlace(backupFolder, config);
  const folder = { place, environment };
  const isOwn = hasOwnBackups(config);
  const [ahead] = isOwn ? await listAhead(folder, inspection.hasRow) : [];
  if (ahead !== undefined) {
    return problem(
      `${place.addressOf(ahead)} has ledger rows that the store does not have`,
      "If the store was lost or replaced, stop the service, move the store away and run petstore restore with this file. If an earlier backup was restored, move the file to another place.",
    );
  }
  const { succeededAt, failure } = await readOutcome(inspection, "backup");
  const advice = backupEveryMs
    ? "If the service runs, look for backup failed in its log. Or run petstore backup FILE."
    : "Run petstore backup FILE, or serve with --backup-every 1h.";
  if (failure) return warning(failure, advice);
  // A restored store does not know the backups that were made before.
  const [newest] = isOwn ? await listBackups(folder, 1) : [];
  const lastAt = succeededAt ?? newest?.createdAt;
  if (lastAt === undefined) return warning("there is none", advice);
  const ageMs = Date.now() - lastAt;
  const where = succeededAt === null ? `, in ${place.address}` : "";
  const found = `the last one is ${formatAge(ageMs)} old${where}`;
  return ageMs > backupAgeMsMax(backupEveryMs) ? warning(found, advice) : ok(found);
}

async function checkDrill(inspection: StoreInspection): Promise<Found> {
  const { succeededAt, failure } = await readOutcome(inspection, "drill");
  const advice =
    "Run petstore drill FILE with the newest backup. It shows that the backup can be restored.";
  if (failure) return warning(failure, advice);
  if (succeededAt === null) return warning("no backup was ever restored as a test", advice);
  const ageMs = Date.now() - succeededAt;
  const found = `a backup was restored and verified ${formatAge(ageMs)} ago`;
  return ageMs > drillAgeMsMax ? warning(found, advice) : ok(found);
}

async function checkKeys(inspection: StoreInspection): Promise<Found> {
  const now = Date.now();
  const usable = (await inspection.listKeys()).filter(
    ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt ?? Infinity) > now,
  );
  const ending = usable.filter(({ expiresAt }) => endsSoon(expiresAt, now));
  if (ending.length === 0) return ok(`${usable.length} usable, none expires soon`);
  const names = ending.map(({ id, name, expiresAt }) => `${id} (${name}) on ${day(expiresAt!)}`);
  return warning(
    `expire soon: ${listed(names)}`,
    "Create new keys with petstore keys create and give them to their users.",
  );
}

async function checkSecrets(inspection: StoreInspection): Promise<Found> {
  const ending = await inspection.listEndingSecrets(Date.now());
  const names = ending.map(
    ({ keyId, keyName, expiresAt }) => `${keyId} (${keyName}) until ${formatInstant(expiresAt)}`,
  );
  return ok(
    names.length === 0 ? "no old secret is still valid" : `old ones still valid: ${listed(names)}`,
  );
}

async function checkBans(inspection: StoreInspection): Promise<Found> {
  const now = Date.now();
  const banned = (await inspection.listBans(now)).filter((ban) => isInForce(ban, now));
  if (banned.length === 0) return ok("no key is banned");
  const names = banned.map(({ keyId, until }) => `${keyId} until ${formatInstant(until)}`);
  return warning(
    `banned: ${listed(names)}`,
    "Tell their users to respect Retry-After. petstore keys unban ID ends a ban.",
  );
}

async function checkWebhooks(inspection: StoreInspection): Promise<Found> {
  const webhooks = await inspection.listWebhooks();
  const bad = webhooks.flatMap(({ id, state, failures, failingSince }) => {
    if (state !== "active") return [`${id} is ${state}`];
    return failingSince === null
      ? []
      : [`${id} has failed ${failures} times since ${formatInstant(failingSince)}`];
  });
  if (bad.length === 0) return ok(`${webhooks.length} webhooks, none fails`);
  return warning(
    listed(bad),
    "petstore webhooks show ID has the reason, petstore webhooks resume ID starts a stopped one.",
  );
}
