import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { every, whileAvailable } from "../domain/background.ts";
import { events, type Log } from "../domain/events.ts";
import type { Engine, EngineFigures } from "../engines.ts";
import { startMetricsServer } from "../http/metrics-server.ts";
import type { Context } from "../http/operation.ts";
import { createCommitMetrics } from "../metrics/commits.ts";
import { expose, expositionType } from "../metrics/exposition.ts";
import { addProcessMetrics, measureEventLoop } from "../metrics/process.ts";
import { type Counter, createRegistry, type Registry } from "../metrics/registry.ts";
import { createRequestMetrics } from "../metrics/requests.ts";
import {
  createAttemptMetrics,
  createMaintenanceMetrics,
  createWebhookMetrics,
} from "../metrics/store.ts";
import { metrics } from "../metrics/table.ts";
import { packageVersion } from "../version.ts";
import { listen } from "./listen.ts";
import { monotonicMs, type ServiceOptions } from "./options.ts";
import { isReady } from "./readiness.ts";

/** The parts of a running service whose numbers are metrics. */
export interface WatchedParts {
  readonly engine: Engine;
  readonly context: Context;
  isStopping(): boolean;
}

/**
 * Opens the listener for metrics and fills the registry. Values that a request or a commit changes
 * are added to as it happens, plain numbers of the parts are read at every scrape, and what needs
 * the store or the disk is read by a timer. A scrape never waits. Without a port for metrics there are
 * none.
 */
export async function openMetrics(
  { config, clock, log }: ServiceOptions,
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
  const up = registry.gauge(metrics.databaseUp);
  up.value = 0;
  const server = await listen(host, port, () =>
    startMetricsServer({
      host,
      port,
      contentType: expositionType,
      expose: () => expose(registry.families),
    }),
  );
  // First in, last out: the end of a stop can be seen.
  opened.defer(server.stop);
  opened.defer(measureEventLoop(registry, monotonicMs, log));

  return {
    url: server.url,
    log: countEvents(registry, log),
    requestEnded,
    groupEnded,
    webhookAnswered,
    /** Returns what stops the reading of the store. */
    watch(parts: WatchedParts): () => void {
      const { store, head } = parts.context;
      let { seq } = parts.context.follower.applied;
      head.subscribe({
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
        async () => showMaintenance(await store.maintenance.listMaintenance()),
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
    counters.set(event, registry.counter(metrics.logEvents, level, event));
  }
  const counting: Log = (event, details) => {
    counters.get(event)!.value += 1;
    log(event, details);
  };
  return Object.assign(counting, { flush: log.flush });
}

function addServiceMetrics(
  registry: Registry,
  config: ServiceOptions["config"],
  { engine, context, isStopping }: WatchedParts,
  seq: () => number,
): void {
  const { committer, follower, feed, list } = context;
  registry.read(metrics.waitingChanges, () => committer.waiting);
  registry.gauge(metrics.waitingChangesMax).value = config.writesWaitingMax;
  registry.read(metrics.ledgerSeq, seq);
  registry.read(metrics.entries, () => list.versions.size);
  registry.read(metrics.followerDistance, () => Math.max(0, seq() - follower.applied.seq));
  registry.read(metrics.followerLoads, () => follower.loads);
  registry.read(metrics.streamsOpen, () => feed.streamsOpen);
  registry.read(metrics.streamsCutOff, () => feed.streamsCutOff);
  registry.read(metrics.stopping, () => (isStopping() ? 1 : 0));
  const { engine: name } = engine.figures;
  const labels = [packageVersion(), process.versions.bun ?? "", name, config.environment];
  registry.gauge(metrics.buildInfo, ...labels).value = 1;
}

/** Returns what reads the sizes of files. */
function addEngineMetrics(registry: Registry, figures: EngineFigures): () => Promise<void> {
  if (figures.engine === "postgres") {
    const { traffic, countConnections } = figures;
    registry.read(metrics.statements, () => traffic.statements);
    registry.read(metrics.roundTrips, () => traffic.roundTrips);
    for (const state of ["open", "closed"] as const) {
      registry.read(metrics.connections, () => countConnections()[state], state);
    }
    return async () => {};
  }
  const { database, wal } = figures.files;
  const fileBytes = registry.gauge(metrics.fileBytes);
  const walBytes = registry.gauge(metrics.walBytes);
  const diskFreeBytes = registry.gauge(metrics.diskFreeBytes);
  return async () => {
    fileBytes.value = await sizeOf(database);
    walBytes.value = await sizeOf(wal);
    diskFreeBytes.value = await freeBytesAt(dirname(database));
  };
}

/** Undefined if the folder is gone. */
async function freeBytesAt(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** 0 if there is no such file. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}
