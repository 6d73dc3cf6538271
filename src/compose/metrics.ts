import { setTimeout as sleep } from "node:timers/promises";
import { every, monotonicMs, whileAvailable } from "../domain/running/background.ts";
import { events, type Log } from "../domain/running/events.ts";
import { int64Max, int64Min } from "../domain/values/int64.ts";
import { stockTotals } from "../http/list/totals.ts";
import { startMetricsServer } from "../http/server/metrics-server.ts";
import { expose, expositionType } from "../metrics/exposition.ts";
import { addProcessMetrics, measureEventLoop } from "../metrics/process.ts";
import { type Counter, createRegistry, type Registry } from "../metrics/registry.ts";
import { createCommitMetrics, createRequestMetrics } from "../metrics/requests.ts";
import {
  createAttemptMetrics,
  createMaintenanceMetrics,
  createWebhookMetrics,
} from "../metrics/store.ts";
import { metrics } from "../metrics/table.ts";
import { addEngineMetrics, addServiceMetrics, type WatchedParts } from "./figures.ts";
import { listen } from "./listen.ts";
import type { ServiceOptions } from "./options.ts";
import { isReady } from "./readiness.ts";

/**
 * Opens the listener for metrics and fills the registry. Returns undefined without a port for metrics.
 * Requests and commits update their counters. A scrape reads numbers that are in memory. A timer reads
 * what needs the store or the disk, so that a scrape never waits. `operations` are the ids of all
 * operations.
 */
export async function openMetrics(
  { config, clock, log, droppedLines }: ServiceOptions,
  operations: readonly string[],
  opened: AsyncDisposableStack,
) {
  const { metricsHost: host, metricsPort: port } = config;
  if (port === undefined) return undefined;
  const registry = createRegistry(Object.values(metrics));
  const requestEnded = createRequestMetrics(registry, operations);
  const groupEnded = createCommitMetrics(registry);
  const webhookAnswered = createAttemptMetrics(registry);
  const showWebhooks = createWebhookMetrics(registry);
  const showMaintenance = createMaintenanceMetrics(registry, clock.now);
  const readProcess = addProcessMetrics(registry);
  const low = registry.gauge(metrics.lowStockEntries);
  const up = registry.gauge(metrics.databaseUp);
  up.value = 0;
  registry.read(metrics.linesDropped, () => droppedLines?.() ?? 0);
  const server = await listen(host, port, () =>
    startMetricsServer(host, port, expositionType, () => expose(registry.families)),
  );
  // The first time takes milliseconds, in which the process could not handle requests.
  expose(registry.families);
  // Opened first and closed last, so that a slow start and a slow stop are visible.
  opened.defer(server.stop);
  opened.defer(measureEventLoop(registry, monotonicMs, log));

  return {
    url: server.url,
    log: countEvents(registry, log),
    requestEnded,
    groupEnded,
    /** To be called after every attempt. The status is null without a response. */
    webhookAnswered,
    /** Reads the parts of the service from now on. Returns what stops that. */
    watch(parts: WatchedParts): () => void {
      const { store, head, follower, list, admin } = parts.context;
      let { seq } = parts.context.follower.applied;
      head.subscribe({
        rowsCommitted(rows) {
          seq = Math.max(seq, rows.at(-1)!.seq);
        },
        headMoved(moved) {
          seq = moved.seq;
        },
      });
      addServiceMetrics(registry, config, parts, () => seq);
      const readFiles = addEngineMetrics(registry, parts.engine.figures);
      const reads = [
        async () => {
          up.value = (await isUp(parts)) ? 1 : 0;
        },
        async () => showWebhooks(await store.webhooks.listWebhooks(), seq),
        async () => {
          const [own] = await store.sales.thresholdsFrom(int64Min, int64Max, 1);
          // To publish and count the list is work, which a store without thresholds does not need.
          const isCounted = config.lowStockAt !== undefined || own !== undefined;
          if (isCounted) await follower.catchUp();
          const count = () => stockTotals(list.versions.current(), store, config.lowStockAt);
          low.value = isCounted ? (await count()).low : 0;
        },
        async () => showMaintenance(await store.maintenance.listMaintenance(), admin.backups),
        readProcess,
        readFiles,
      ];
      // Each on its own, so that a store that hangs does not delay the others.
      const timers = reads.map((read) => {
        void read().catch(() => {});
        return every(config.metricsReadEveryMs, "reading metrics", log, whileAvailable(read));
      });
      return () => {
        for (const stop of timers) stop();
      };
    },
  };
}

export type Metrics = NonNullable<Awaited<ReturnType<typeof openMetrics>>>;

/** A store that has not responded after this time counts as down. */
const upPatienceMs = 2_000;

function isUp({ engine, context }: WatchedParts): Promise<boolean> {
  const late = sleep(upPatienceMs, false, { ref: false });
  return Promise.race([isReady(engine, context), late]);
}

/** Counts the events of the log. The table of events bounds the labels. */
function countEvents(registry: Registry, log: Log): Log {
  const counters = new Map<string, Counter>();
  for (const [event, { level }] of Object.entries(events)) {
    // Lines of requests do not go through this function.
    if (event === "request") continue;
    counters.set(event, registry.counter(metrics.logEvents, level, event));
  }
  const counted: Log = (event, details) => {
    counters.get(event)!.value += 1;
    log(event, details);
  };
  return Object.assign(counted, { flush: log.flush });
}
