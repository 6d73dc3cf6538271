// What the pictures of keys, webhooks, backups and the audit log show: keys of a shop with two weeks of
// use, one of them banned and one being rotated, webhooks that work and that fail, and some backups.
import { copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../src/config.ts";
import { auditEntry, byCommand } from "../../src/domain/audit/audit.ts";
import { toPoints, type UsageCount } from "../../src/domain/usage/usage-history.ts";
import { withoutSecrets } from "../../src/domain/webhooks/terms.ts";
import type { WebhookAttempt } from "../../src/domain/webhooks/webhook.ts";
import type { TestService } from "../../test/support/service.ts";
import { until } from "../../test/support/until.ts";
import { webhookNamed } from "../../test/support/webhooks.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

interface Issued {
  readonly id: string;
  /** The secret of the key. */
  readonly key: string;
}

export type IssuedKeys = Record<"till" | "shop" | "partner" | "warehouse" | "old", Issued>;

/** The ids that the addresses of the pictures contain. */
export interface Operations {
  readonly rotatedKeyId: string;
  readonly bannedKeyId: string;
  readonly tillKeyId: string;
  readonly webhookId: string;
}

/** A service with these bounds sends no webhook, so that the pictures need no receiver. */
export const quietWebhooks: Config["webhooks"] = {
  timeoutMs: 1_000,
  leaseMs: dayMs,
  leaseLeftMinMs: 1_000,
  renewEveryMs: dayMs,
  renewLocallyEveryMs: dayMs,
};

type Ask = (method: string, path: string, body?: unknown) => Promise<Issued>;

/** Sends a request to the operator API. */
function asker({ call }: TestService, key: string): Ask {
  return async (method, path, body) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await call(method, `~/admin${path}`, { key, ...sent });
    if (response.status >= 400) throw new Error(`${method} ${path}: ${response.text}`);
    return response.json as Issued;
  };
}

export async function issueKeys(service: TestService, operatorKey: string): Promise<IssuedKeys> {
  const ask = asker(service, operatorKey);
  const create = (fields: object) => ask("POST", "/keys", fields);
  const scopes = ["inventory:read", "pets:read"];
  const limits = { perMinute: 5_000, perDay: 2_000_000 };
  const keys = {
    till: await create({ name: "Till 1", plan: "business" }),
    shop: await create({ name: "Web shop", plan: "pro" }),
    partner: await create({ name: "Price comparison", plan: "free", scopes }),
    warehouse: await create({ name: "Warehouse", plan: "enterprise", ...limits }),
    old: await create({ name: "Old website", plan: "pro" }),
  };
  await create({ name: "Grace", kind: "operator" });
  await ask("POST", "/backups");
  return keys;
}

/** What happens to the keys on a morning, webhooks and backups. */
export async function operate(
  service: TestService,
  operatorKey: string,
  { till, partner, warehouse, old }: IssuedKeys,
  backupFolder: string,
): Promise<Operations> {
  const ask = asker(service, operatorKey);
  const { clock } = service;
  await ask("POST", `/keys/${old.id}/revoke`);
  await ask("PATCH", `/keys/${partner.id}`, { expiresAt: new Date(clock.now() + 90 * dayMs) });
  await ask("POST", `/keys/${warehouse.id}/rotate`, { overlapSeconds: 604_800 });
  await addPastUse(service, warehouse.id, 38);
  await addPastUse(service, partner.id, 3);
  const webhookId = await addWebhooks(service);
  await addBackups(service, backupFolder);
  clock.advance(minuteMs - (clock.now() % minuteMs));
  await ban(service, partner.key);
  for (let request = 0; request < 120; request += 1) {
    await service.call("GET", "/pets/1", { key: warehouse.key });
  }
  await failSome(service, till.key);
  return { rotatedKeyId: warehouse.id, bannedKeyId: partner.id, tillKeyId: till.id, webhookId };
}

/** A till with an error in its program, which sells more than there is. */
async function failSome({ call, clock, store }: TestService, key: string): Promise<void> {
  const requests = [
    ["GET", "/store/orders?limit=many"],
    ["PATCH", "/inventory/17", '{"quantity":3}'],
    ["POST", "/changes", '{"changes":[{"petId":9,"delta":-8,"reason":"sold"}]}'],
    ["PATCH", "/inventory/3", '{"quantity":"five"}'],
  ] as const;
  for (const [method, path, body] of requests) {
    clock.advance(20_000);
    const headers = { "User-Agent": "till/2.4" };
    await call(method, path, { key, headers, ...(body && { body }) });
  }
  const isStored = async () =>
    (await store.requests.listRequests({ code: "insufficient_stock" }, 1)).length > 0;
  await until(isStored, 5_000, "the refused requests");
}

/** Requests in the hours in which a shop is open, with a peak at noon. */
async function addPastUse({ store, clock }: TestService, keyId: string, peak: number) {
  const now = clock.now();
  const counts: UsageCount[] = [];
  for (let at = now - dayMs + minuteMs; at < now; at += minuteMs) {
    const hour = (at % dayMs) / hourMs;
    const share = Math.max(0.04, Math.sin(((hour - 6) / 15) * Math.PI));
    const admitted = Math.round(peak * share * (0.8 + 0.4 * Math.abs(Math.sin(at / 7_919))));
    counts.push({
      keyId,
      start: at,
      admitted,
      refused: hour > 11.5 && hour < 12.2 ? peak >> 2 : 0,
    });
  }
  for (let day = 1; day < 380; day += 1) {
    const weekly = new Date(now - day * dayMs).getUTCDay() === 0 ? 0.3 : 1;
    const admitted = Math.round(peak * 700 * weekly * (1 - day / 500));
    counts.push({
      keyId,
      start: now - day * dayMs,
      admitted,
      refused: day % 41 === 0 ? peak * 40 : 0,
    });
  }
  await store.usageHistory.addCounts(toPoints(counts));
}

/** One more request than the limit allows, again and again. */
async function ban({ call, clock }: TestService, key: string): Promise<void> {
  for (let request = 0; request <= 60; request += 1) await call("GET", "/pets/1", { key });
  clock.advance(2_000);
  for (let strike = 0; strike < 30; strike += 1) await call("GET", "/pets/1", { key });
}

async function addWebhooks({ store, clock }: TestService): Promise<string> {
  const { epoch, seq } = await store.inventory.readHead();
  const now = clock.now();
  const common = { createdAt: now - 40 * dayMs, cursor: { epoch, seq } };
  const shop = webhookNamed("wh_8Kd0aLq2VbXr", {
    ...common,
    name: "Web shop",
    url: "https://shop.example.com/hooks/stock",
  });
  const alarm = webhookNamed("wh_2mZpQ7sYcN1f", {
    ...common,
    name: "Low stock alarm",
    url: "https://alarm.example.com/low-stock",
    filter: {
      pets: null,
      statuses: ["available"],
      causes: null,
      below: null,
      becomesLow: true,
    },
    cursor: { epoch, seq: seq - 4 },
    failures: 3,
    failingSince: now - 9 * minuteMs,
    nextAttemptAt: now + 6 * minuteMs,
  });
  const accounting = webhookNamed("wh_Xw4uTgB9eJ5h", {
    ...common,
    name: "Accounting",
    url: "https://books.example.com/petstore",
    state: "paused",
    stateReason: "paused by an operator",
    cursor: { epoch, seq: seq - 6 },
  });
  for (const webhook of [shop, alarm, accounting]) {
    const { id, name, url } = webhook;
    const details = { name, url: withoutSecrets(url) };
    const entry = auditEntry(byCommand(now), "webhook.created", id, details);
    await store.webhooks.addWebhook(webhook, entry);
  }
  const attempts = [
    attempt(now - 70 * minuteMs, seq - 4, { status: 200, answer: "ok" }),
    attempt(now - 9 * minuteMs, seq - 3, { error: "connection refused", durationMs: 2 }),
    attempt(now - 5 * minuteMs, seq - 3, { error: "no response within 10 s", durationMs: 10_000 }),
    attempt(now - minuteMs, seq - 3, {
      status: 503,
      answer: '{"error":"the database is starting"}',
    }),
  ];
  const holder = "pictures";
  await store.webhooks.claimWebhooks(holder, hourMs);
  const { id, replays, cursor, failures, failingSince, nextAttemptAt } = alarm;
  const progress = { cursor, failures, failingSince, nextAttemptAt };
  await store.webhooks.saveDelivered(holder, [{ id, replays, progress, attempts }]);
  return alarm.id;
}

function attempt(at: number, seq: number, given: Partial<WebhookAttempt>): WebhookAttempt {
  return {
    at,
    messageId: `msg_${seq}`,
    firstSeq: seq,
    lastSeq: seq,
    changes: 1,
    durationMs: 48,
    status: null,
    error: null,
    answer: "",
    ...given,
  };
}

/** Copies of the first backup, as if the service had made them every six hours, and a drill. */
async function addBackups({ store, clock }: TestService, folder: string): Promise<void> {
  const [first] = readdirSync(folder);
  const lastAt = clock.now() - (clock.now() % (6 * hourMs));
  for (let count = 0; count < 8; count += 1) {
    const time = new Date(lastAt - count * 6 * hourMs).toISOString().replace(/[-:]|\.\d+/g, "");
    copyFileSync(join(folder, first!), join(folder, `production-${time}.petstore`));
  }
  await store.maintenance.endTask("backup", lastAt, '{"durationMs":310}');
  await store.maintenance.endTask("drill", clock.now() - 3 * dayMs, '{"durationMs":1040}');
}
