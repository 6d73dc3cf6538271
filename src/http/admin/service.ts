import { environments, roleOf } from "../../domain/keys/keys.ts";
import { listKeyStatuses } from "../../domain/keys/lifecycle.ts";
import { petStatuses } from "../../domain/ledger/inventory.ts";
import { conditionOf, listAttention } from "../../domain/operations/attention.ts";
import { lowStockRule } from "../../domain/sales/sales.ts";
import { minutesCounted } from "../../domain/usage/change-counts.ts";
import { isoOrNull } from "../../domain/values/times.ts";
import type { Webhook } from "../../domain/webhooks/webhook.ts";
import { json } from "../api/contract/contract.ts";
import { exampleTime } from "../api/contract/examples.ts";
import * as schema from "../api/contract/schema.ts";
import { headOf } from "../api/history.ts";
import { stockTotals } from "../list/totals.ts";
import type { AdminDeclaration } from "./admin-declaration.ts";

const exampleService = {
  version: "0.18.0",
  environment: "production",
  engine: "SQLite",
  schema: 101,
  startedAt: "2026-11-15T20:00:00.000Z",
  now: exampleTime,
  ledger: { seq: 1207, hash: "0".repeat(64), at: exampleTime },
  stock: {
    available: { entries: 120, quantity: 1840 },
    pending: { entries: 4, quantity: 4 },
    sold: { entries: 31, quantity: 0 },
  },
  lowStockAt: 3,
  lowEntries: 6,
  changesPerMinute: Array.from({ length: minutesCounted }, (_, at) => at % 4),
  isReady: true,
  webhooks: { active: 2, paused: 0, disabled: 0, failing: 0 },
  backup: { lastAt: "2026-11-16T02:00:00.000Z", ageSeconds: 21600 },
  attention: [
    { severity: "warning", text: "Key 'Warehouse' is close to the daily limit.", view: "keys" },
  ],
};

export const serviceSchemas: Readonly<Record<string, schema.Schema>> = {
  StockTotal: schema.responseObject(
    "The entries with one status.",
    {
      entries: schema.number("The number of entries."),
      quantity: schema.number("The sum of their quantities. At most 2^53 − 1."),
    },
    exampleService.stock.available,
  ),
  StockTotals: schema.responseObject(
    "The stock by status.",
    Object.fromEntries(
      petStatuses.map((status) => [
        status,
        schema.named("StockTotal", `Entries that are ${status}.`),
      ]),
    ),
    exampleService.stock,
  ),
  WebhookCounts: schema.responseObject(
    "The number of webhooks in each state.",
    {
      active: schema.number("Webhooks that deliver."),
      paused: schema.number("Webhooks that are paused."),
      disabled: schema.number("Webhooks that are disabled, because the receiver returned 410."),
      failing: schema.number("Active webhooks whose last attempt failed."),
    },
    exampleService.webhooks,
  ),
  LastBackup: schema.responseObject(
    "The last backup that succeeded.",
    {
      lastAt: schema.time("When it ended, or was started if only its file is known."),
      ageSeconds: schema.number("The time since then, in seconds."),
    },
    exampleService.backup,
  ),
  Attention: schema.responseObject(
    "Something that an operator should look at.",
    {
      severity: schema.choice(
        ["problem", "warning"],
        "`problem` if something does not work, `warning` if something may stop working.",
      ),
      text: schema.text("What it is, in a sentence."),
      view: schema.text("The view of the console that shows more."),
    },
    exampleService.attention[0]!,
  ),
  Service: schema.responseObject(
    "The state of the service.",
    {
      version: schema.text("The version of the service."),
      environment: schema.choice(environments, "The environment of the service."),
      engine: schema.choice(["SQLite", "PostgreSQL"], "The database engine."),
      schema: schema.number("The number of the store's schema."),
      startedAt: schema.time("When this instance was started."),
      now: schema.time("The current time of the service."),
      ledger: schema.named("LedgerHead", "The end of the ledger."),
      stock: schema.named("StockTotals", "The stock by status."),
      lowStockAt: schema.orNull(
        schema.quantity("The default threshold, set by `--low-stock-at`, or null."),
      ),
      lowEntries: schema.number(`The number of entries that are low. ${lowStockRule}`),
      changesPerMinute: {
        type: "array",
        items: schema.number("Changes in one minute."),
        minItems: minutesCounted,
        maxItems: minutesCounted,
        description:
          "The changes in each of the last 60 minutes, the oldest first. The last value is the current minute so far.",
      },
      isReady: schema.flag("Whether `/readyz` returns 200."),
      webhooks: schema.named("WebhookCounts", "The webhooks."),
      backup: schema.nullable("LastBackup", "The last backup, or null if there is none."),
      attention: schema.listOf(
        "Attention",
        "What an operator should look at, problems first. Only owners see what is about keys, webhooks and backups.",
      ),
    },
    exampleService,
  ),
};

/** The state of the service on one page. */
const getService: AdminDeclaration = {
  method: "GET",
  path: "/service",
  contract: {
    summary: "Get the state of the service",
    description:
      "Returns facts about the service, totals of the stock, the changes per minute, and what needs attention. The totals include every change that was confirmed before you sent the request.",
    success: { 200: json("The state of the service.", "Service") },
  },
  async handle(context, call) {
    const { store, clock, admin, follower, list } = context;
    await follower.catchUp(call.head);
    const now = clock.now();
    const [stock, tip, changesPerMinute, isReady, webhooks, keys, maintenance] = await Promise.all([
      stockTotals(list.versions.current(), store, admin.facts.lowStockAt),
      store.history.readTip(),
      admin.changeCounts.perMinute(),
      admin.isReady(),
      store.webhooks.listWebhooks(),
      listKeyStatuses(store, now, admin.findUsage),
      store.maintenance.listMaintenance(),
    ]);
    const { startedAt, ...facts } = admin.facts;
    const all = listAttention({
      ...{ now, isReady, keys, webhooks, maintenance },
      ...{ backups: admin.backups, replica: admin.backups.replica },
      canWrite: store.inventory.canWrite(),
      lostRows: admin.lostRows,
      certificateExpiresAt: admin.certificateExpiresAt(),
    });
    // The others cannot open these views, and the texts name keys and webhooks.
    const isOwner = roleOf(call.caller) === "owner";
    const attention = all.filter(({ view }) => isOwner || view === "overview");
    const body = JSON.stringify({
      ...facts,
      startedAt: isoOrNull(startedAt),
      now: isoOrNull(now),
      ledger: headOf(tip),
      stock: stock.byStatus,
      lowEntries: stock.low,
      changesPerMinute,
      isReady,
      webhooks: countWebhooks(webhooks),
      backup: describeBackup(admin.backups.lastAt(maintenance), now),
      attention,
    });
    return { status: 200, body };
  },
};

function countWebhooks(webhooks: readonly Webhook[]) {
  const count = (name: string) =>
    webhooks.filter((one) => one.state === name || conditionOf(one) === name).length;
  const names = ["active", "paused", "disabled", "failing"];
  return Object.fromEntries(names.map((name) => [name, count(name)]));
}

function describeBackup(at: number | null | undefined, now: number) {
  if (!at) return null;
  return { lastAt: isoOrNull(at), ageSeconds: Math.max(0, Math.floor((now - at) / 1_000)) };
}

export const serviceOperations = { getService };
