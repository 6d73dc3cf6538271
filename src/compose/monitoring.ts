import type { CommittedGroup } from "../domain/commits/commits.ts";
import type { Engine } from "../engines.ts";
import { createFailingRequests } from "../http/pipeline/failing-requests.ts";
import type { Observers } from "../http/pipeline/observe.ts";
import { createRequestLog } from "../http/pipeline/request-log.ts";
import type { Metrics } from "./metrics.ts";
import type { ServiceOptions } from "./options.ts";
import type { Traces } from "./traces.ts";

/** What follows the requests and commits of a service, for logs, metrics and traces. */
export interface Monitoring {
  readonly observers: Observers;
  /** Called after every transaction of updates. */
  groupEnded(group: CommittedGroup): void;
}

/** `opened` closes what is opened here. */
export function createMonitoring(
  { config, observer, log, requestLines }: ServiceOptions,
  metrics: Metrics | undefined,
  traces: Traces | undefined,
  { states }: Pick<Engine, "states">,
  opened: AsyncDisposableStack,
): Monitoring {
  const failing = createFailingRequests(log, config.failuresQuietMs, states);
  opened.defer(failing.stop);
  const requestLog = requestLines && createRequestLog(config.logRequests, requestLines);
  const all = [requestLog, traces?.requestEnded, observer];
  const observers = all.filter((one) => one !== undefined);
  return {
    observers: {
      observers,
      counter: metrics?.requestEnded,
      beginTrace: traces?.beginTrace,
      failureObservers: [failing.observe],
    },
    groupEnded(group) {
      states.groupEnded(group);
      metrics?.groupEnded(group);
    },
  };
}
