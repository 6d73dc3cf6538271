import { listAhead } from "../../backup/ahead.ts";
import { listBackups } from "../../backup/folder.ts";
import { openPlace } from "../../backup/locate.ts";
import type { Config } from "../../config.ts";
import { listKeyStatuses } from "../../domain/keys/lifecycle.ts";
import * as attention from "../../domain/operations/attention.ts";
import type { StoreInspection } from "../../domain/operations/inspection.ts";
import { formatInstant } from "../../domain/values/times.ts";
import { hasOwnBackups } from "../../opening/creation.ts";
import { type Check, type Found, formatAge, judged, listed, ok } from "./finding.ts";

const advice = "Another session may hold a lock. If not, run petstore verify.";

const folderAdvice = "Check --backup-folder and --backup-key-file. See docs/object-storage.md.";

/** Checks of what the store contains: backups, drills, keys, bans and webhooks. */
export function contentChecks(inspection: StoreInspection, config: Config): readonly Check[] {
  return [
    ["backup", folderAdvice, () => checkBackups(inspection, config)],
    ["keys", advice, () => checkKeys(inspection)],
    ["webhooks", advice, () => checkWebhooks(inspection)],
  ];
}

async function checkBackups(inspection: StoreInspection, config: Config) {
  const { backupEveryMs, backupFolder, environment } = config;
  const place = openPlace(backupFolder, config);
  const files = hasOwnBackups(config) ? await listBackups({ place, environment }, Infinity) : [];
  const ahead = await listAhead(place, files, inspection.hasRow);
  const maintenance = await inspection.listMaintenance();
  const now = Date.now();
  const backupAt = attention.lastBackupAt(maintenance, files, now);
  const drillAt = maintenance.find(({ task }) => task === "drill")?.succeededAt;
  const backups = {
    everyMs: backupEveryMs,
    lastAt: () => backupAt,
    listAhead: () => ahead.map(place.addressOf),
    findProblem: () => undefined,
  };
  return judged(attention.aboutBackups({ backups, maintenance, now }), {
    backup: [
      `the last one is ${formatAge(now - (backupAt ?? 0))} old`,
      backupEveryMs
        ? "If the service runs, look for backup failed in its log. Or run petstore backup FILE."
        : "Run petstore backup FILE, or serve with --backup-every 1h.",
    ],
    "backups ahead": [
      `none of ${files.length} is ahead of the store`,
      "If the store was lost or replaced, stop the service, move the store away and run petstore restore with this file. If an earlier backup was restored, move the file to another place.",
    ],
    drill: [
      drillAt
        ? `a backup was restored and verified ${formatAge(now - drillAt)} ago`
        : "there is no backup to restore as a test",
      "Run petstore drill FILE with the newest backup. It shows that the backup can be restored.",
    ],
  });
}

async function checkKeys(inspection: StoreInspection): Promise<readonly Found[]> {
  const now = Date.now();
  const keys = await listKeyStatuses({ keys: inspection, usage: inspection }, now);
  const old = keys.flatMap(({ key: { id, name }, secrets }) =>
    secrets
      .filter(({ expiresAt }) => expiresAt !== null)
      .map(({ expiresAt }) => `${id} (${name}) until ${formatInstant(expiresAt!)}`),
  );
  const secrets = old.length > 0 ? `old ones still valid: ${listed(old)}` : "no old one is valid";
  const found = judged(attention.aboutKeys(keys, now), {
    keys: [
      `${keys.filter(attention.isUsable).length} usable, none expires soon`,
      "Create new keys with petstore keys create and give them to their users.",
    ],
    limits: [
      "no key is close to its daily limit",
      "Ask their users to send less, or raise the limits of the keys in the console.",
    ],
    bans: [
      "no key is banned",
      "Tell their users to respect Retry-After. petstore keys unban ID ends a ban.",
    ],
  });
  return [...found, { name: "secrets", ...ok(secrets) }];
}

async function checkWebhooks(inspection: StoreInspection): Promise<readonly Found[]> {
  const webhooks = await inspection.listWebhooks();
  const fine = `${webhooks.length} webhooks, none fails`;
  const advice =
    "petstore webhooks show ID has the reason, petstore webhooks resume ID starts a stopped one.";
  return judged(attention.aboutWebhooks(webhooks), { webhooks: [fine, advice] });
}
