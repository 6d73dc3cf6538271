import type { CommittedGroup } from "../domain/commits.ts";
import type { Observers } from "../http/observe.ts";
import type { ServiceOptions } from "./options.ts";

/** What follows the work of a service, for logs, metrics and traces. */
export interface Monitoring {
  /** Undefined if nobody observes requests. */
  readonly observers: Observers | undefined;
  /** Called after every transaction of updates. */
  groupEnded(group: CommittedGroup): void;
}

export function createMonitoring({ observer }: ServiceOptions): Monitoring {
  return { observers: observer && { observers: [observer] }, groupEnded() {} };
}
