import type { CommittedGroup } from "../domain/commits.ts";
import type { Log } from "../domain/events.ts";
import type { Observer, Observers } from "../http/observe.ts";
import { openMetrics, type WatchedParts } from "./metrics.ts";
import type { ServiceOptions } from "./options.ts";

/** What follows the work of a service, for logs, metrics and traces. */
export interface Monitoring {
  /** Undefined if nobody observes requests. */
  readonly observers: Observers | undefined;
  /** Replaces the log that the service was given. */
  readonly log: Log;
  /** Undefined without metrics. */
  readonly metricsUrl: string | undefined;
  /** Called after every transaction of updates. */
  groupEnded(group: CommittedGroup): void;
  /** Called after every attempt to deliver a webhook. The status is null without a response. */
  webhookAnswered(status: number | null): void;
  /** Reads the parts of the service from now on. Returns what stops that. */
  watch(parts: WatchedParts): () => void;
}

/** `operations` are the ids of all operations. `opened` closes what is opened here. */
export function createMonitoring(
  options: ServiceOptions,
  operations: readonly string[],
  opened: AsyncDisposableStack,
): Monitoring {
  const { config, log, observer } = options;
  const metrics =
    config.metricsPort === undefined ? undefined : openMetrics(options, operations, opened);
  const observers: readonly (Observer | undefined)[] = [metrics?.requestEnded, observer];
  return {
    observers: withObservers(observers),
    log: metrics?.log ?? log,
    metricsUrl: metrics?.url,
    groupEnded: metrics?.groupEnded ?? (() => {}),
    webhookAnswered: metrics?.webhookAnswered ?? (() => {}),
    watch: metrics?.watch ?? (() => () => {}),
  };
}

function withObservers(maybe: readonly (Observer | undefined)[]): Observers | undefined {
  const observers = maybe.filter((one) => one !== undefined);
  return observers.length > 0 ? { observers } : undefined;
}
