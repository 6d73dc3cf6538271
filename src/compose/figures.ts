import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Config } from "../config.ts";
import { backupAgeMsMax } from "../domain/operations/attention.ts";
import type { Context } from "../http/pipeline/context.ts";
import type { Certificate } from "../http/tls/certificate.ts";
import type { Registry } from "../metrics/registry.ts";
import { metrics } from "../metrics/table.ts";
import type { Engine, EngineFigures } from "../opening/engines.ts";
import { packageVersion } from "../version.ts";
import type { Traces } from "./traces.ts";

/** The parts of a running service whose numbers are metrics. */
export interface WatchedParts {
  readonly engine: Engine;
  readonly context: Context;
  readonly certificate: Pick<Certificate, "expiresAt"> | undefined;
  readonly traces: Pick<Traces, "spansDropped"> | undefined;
  readonly stopping: AbortSignal;
}

/** Adds the numbers that the parts of a service have at any time. */
export function addServiceMetrics(
  registry: Registry,
  config: Config,
  { engine, context, certificate, traces, stopping }: WatchedParts,
  seq: () => number,
): void {
  const { committer, follower, feed, list } = context;
  registry.read(metrics.refusalsDropped, context.requests.dropped);
  registry.read(metrics.waitingChanges, committer.waiting);
  registry.gauge(metrics.waitingChangesMax).value = config.writesWaitingMax;
  registry.read(metrics.ledgerSeq, seq);
  registry.read(metrics.entries, () => list.versions.size);
  registry.read(metrics.followerDistance, () => Math.max(0, seq() - follower.applied.seq));
  registry.read(metrics.followerLoads, () => follower.loads);
  registry.read(metrics.streamsOpen, feed.streamsOpen);
  registry.read(metrics.streamsCutOff, feed.streamsCutOff);
  registry.read(metrics.spansDropped, () => traces?.spansDropped() ?? 0);
  registry.read(metrics.certificateExpiry, () => certificate && certificate.expiresAt / 1_000);
  registry.gauge(metrics.backupAgeMax).value = backupAgeMsMax(config.backupEveryMs) / 1_000;
  registry.read(metrics.backupsAhead, () => context.admin.backups.listAhead()?.length);
  const { replica } = context.admin.backups;
  registry.read(metrics.replicaAge, () => replica && replica.ageMs() / 1_000);
  registry.read(metrics.stopping, () => (stopping.aborted ? 1 : 0));
  const { engine: name } = engine.figures;
  const labels = [packageVersion(), process.versions.bun ?? "", name, config.environment];
  registry.gauge(metrics.buildInfo, ...labels).value = 1;
}

/** Adds the numbers of the engine. Returns what reads the sizes of files. */
export function addEngineMetrics(registry: Registry, figures: EngineFigures): () => Promise<void> {
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
  const found = await statfs(folder).catch(() => undefined);
  return found && found.bavail * found.bsize;
}

/** 0 if there is no such file. */
async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
