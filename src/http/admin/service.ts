import { listKeyStatuses } from "../../domain/keys/lifecycle.ts";
import { type Attention, listAttention } from "../../domain/operations/attention.ts";
import type { Webhook } from "../../domain/webhooks/webhook.ts";
import { stockTotals } from "../list/totals.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { isoOrNull } from "./times.ts";

/** The state of the service on one page. */
export async function getService(context: Context, call: Call): Promise<Reply> {
  const { store, clock, admin, follower, list } = context;
  await follower.catchUp(call.head);
  const now = clock.now();
  const [stock, tip, changesPerMinute, isReady, webhooks, keys, maintenance] = await Promise.all([
    stockTotals(list.versions.current()),
    store.history.readTip(),
    admin.changeCounts.perMinute(now),
    admin.isReady(),
    store.webhooks.listWebhooks(),
    listKeyStatuses(store, now, admin.findUsage),
    store.maintenance.listMaintenance(),
  ]);
  const { startedAt, backupEveryMs, ...facts } = admin.facts;
  const backup = maintenance.find(({ task }) => task === "backup");
  const attention: readonly Attention[] = listAttention({
    now,
    isReady,
    canWrite: store.inventory.canWrite(),
    keys,
    webhooks,
    backup,
    backupsAhead: admin.backups.countAhead() ?? 0,
    backupEveryMs,
    certificateExpiresAt: admin.certificateExpiresAt(),
  });
  const body = JSON.stringify({
    ...facts,
    startedAt: isoOrNull(startedAt),
    now: isoOrNull(now),
    ledger: { seq: tip.seq, hash: tip.hash, at: tip.seq === 0 ? null : isoOrNull(tip.at) },
    stock,
    changesPerMinute,
    isReady,
    webhooks: countWebhooks(webhooks),
    backup: describeBackup(backup?.succeededAt ?? null, now),
    attention,
  });
  return { status: 200, body };
}

function countWebhooks(webhooks: readonly Webhook[]) {
  const count = (isCounted: (webhook: Webhook) => boolean) => webhooks.filter(isCounted).length;
  return {
    active: count(({ state }) => state === "active"),
    paused: count(({ state }) => state === "paused"),
    disabled: count(({ state }) => state === "disabled"),
    failing: count(({ state, failures }) => state === "active" && failures > 0),
  };
}

function describeBackup(succeededAt: number | null, now: number) {
  if (succeededAt === null) return null;
  const ageSeconds = Math.max(0, Math.floor((now - succeededAt) / 1_000));
  return { lastAt: isoOrNull(succeededAt), ageSeconds };
}
