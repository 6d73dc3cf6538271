import { conditionOf } from "../domain/operations/attention.ts";
import type { BackupView } from "../domain/operations/backups.ts";
import { durationMsOf, type MaintenanceRecord } from "../domain/operations/maintenance.ts";
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
    failing.value = active.filter((one) => conditionOf(one) === "failing").length;
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
  let backupAt = 0;
  const backupSuccess = registry.gauge(metrics.backupSuccess);
  const backupFailure = registry.gauge(metrics.backupFailure);
  const duration = registry.gauge(metrics.backupDuration);
  const drillSuccess = registry.gauge(metrics.drillSuccess);
  const drillFailure = registry.gauge(metrics.drillFailure);
  const ageMs = () => Math.max(0, now() - backupAt);
  registry.read(metrics.backupAge, () => (backupAt ? ageMs() / 1_000 : undefined));
  return (records: readonly MaintenanceRecord[], { lastAt }: Pick<BackupView, "lastAt">): void => {
    const backup = records.find(({ task }) => task === "backup");
    const drill = records.find(({ task }) => task === "drill");
    const durationMs = backup && durationMsOf(backup);
    backupAt = lastAt(records) ?? 0;
    backupSuccess.value = backupAt / 1_000;
    backupFailure.value = (backup?.failedAt ?? 0) / 1_000;
    duration.value = durationMs && durationMs / 1_000;
    drillSuccess.value = (drill?.succeededAt ?? 0) / 1_000;
    drillFailure.value = (drill?.failedAt ?? 0) / 1_000;
  };
}
