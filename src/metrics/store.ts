import {
  durationMsOf,
  type MaintenanceRecord,
  type MaintenanceTask,
} from "../domain/operations/maintenance.ts";
import { type Webhook, webhookStates } from "../domain/webhooks/webhook.ts";
import type { Registry } from "./registry.ts";
import { metrics } from "./table.ts";

/** Shows the state of webhooks as it was last read. */
export function createWebhookMetrics(registry: Registry) {
  const byState = webhookStates.map(
    (state) => [state, registry.gauge(metrics.webhooks, state)] as const,
  );
  const failing = registry.gauge(metrics.webhooksFailing);
  const behind = registry.gauge(metrics.webhookRowsBehind);
  return (webhooks: readonly Webhook[], seq: number): void => {
    for (const [state, gauge] of byState) {
      gauge.value = webhooks.filter((one) => one.state === state).length;
    }
    const active = webhooks.filter(({ state }) => state === "active");
    failing.value = active.filter(({ failures }) => failures > 0).length;
    behind.value = active.reduce((most, { cursor }) => Math.max(most, seq - cursor.seq), 0);
  };
}

/** Counts attempts to deliver a webhook. `none` is one without a complete response. */
export function createAttemptMetrics(registry: Registry): (status: number | null) => void {
  const counterOf = (result: string) => registry.counter(metrics.webhookAttempts, result);
  const byClass = ["2xx", "3xx", "4xx", "5xx"].map(counterOf);
  const none = counterOf("none");
  return (status) => {
    const counter = status === null ? none : (byClass[Math.trunc(status / 100) - 2] ?? none);
    counter.value += 1;
  };
}

/** Shows the last backups and drills as they were last read. */
export function createMaintenanceMetrics(registry: Registry, now: () => number) {
  let records: readonly MaintenanceRecord[] | undefined;
  const last = (task: MaintenanceTask, field: "succeededAt" | "failedAt") => {
    if (!records) return undefined;
    return (records.find((one) => one.task === task)?.[field] ?? 0) / 1_000;
  };
  registry.read(metrics.backupSuccess, () => last("backup", "succeededAt"));
  registry.read(metrics.backupFailure, () => last("backup", "failedAt"));
  registry.read(metrics.backupAge, () => {
    const at = last("backup", "succeededAt");
    return at ? Math.max(0, now() / 1_000 - at) : undefined;
  });
  registry.read(metrics.backupDuration, () => {
    const record = records?.find(({ task }) => task === "backup");
    const durationMs = record && durationMsOf(record);
    return durationMs && durationMs / 1_000;
  });
  registry.read(metrics.drillSuccess, () => last("drill", "succeededAt"));
  registry.read(metrics.drillFailure, () => last("drill", "failedAt"));
  return (found: readonly MaintenanceRecord[]): void => {
    records = found;
  };
}
