/** From the least to the most severe. */
export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** One kind of event in the log. */
export interface EventKind {
  readonly level: LogLevel;
  /** What happened, for the documentation. */
  readonly meaning: string;
  /** What the operator should do, if anything. */
  readonly action?: string;
}

/**
 * Every event that the service logs. The documentation is generated from this list. An event is
 * logged when a state changes, not for every request that the state affects.
 */
export const events = {
  crash: {
    level: "error",
    meaning: "An unexpected error ended the process.",
    action: "Report it. Supervisors restart the process.",
  },
  bug: {
    level: "error",
    meaning: "An unexpected error in a request, which got a 500.",
    action: "Report it. `requestId` is the `X-Request-Id` of the response.",
  },
  stopping: { level: "info", meaning: "A signal arrived. The service stops." },
  "task failed": {
    level: "warn",
    meaning: "Background work, named by `task`, started to fail. It is tried again.",
  },
  "task succeeded again": {
    level: "info",
    meaning: "Background work succeeds again, after `failures` failures.",
  },
  "key banned": { level: "warn", meaning: "A key was banned until `until`." },
  "bans not read": { level: "warn", meaning: "Bans could not be read. They are read again later." },
  "usage and bans not saved": {
    level: "warn",
    meaning: "The counts of the last second before a stop are lost.",
  },
  "slow reader of a snapshot cut off": {
    level: "warn",
    meaning: "A client did not read a snapshot, and others were waiting.",
  },
  "snapshot failed": {
    level: "error",
    meaning: "An inventory of the past could not be read to its end. The connection was closed.",
    action:
      "If the store is damaged, run `petstore verify`. See [Damaged checkpoints](troubleshooting.md#damaged-checkpoints).",
  },
  "slow readers cut off": {
    level: "warn",
    meaning: "Slow clients kept too many old lists in memory. `keyId` names the key.",
  },
  "database keeps no prepared statements": {
    level: "error",
    meaning: "A pooler drops prepared statements.",
    action: "Add `prepare=false` to the address.",
  },
  "database primary cannot be checked": {
    level: "warn",
    meaning: "No host could be checked. Until a check succeeds, a failover may go unnoticed.",
    action: "Make the hosts reachable, and keep a connection slot free on each.",
  },
  "database primary replaced": {
    level: "warn",
    meaning: "A standby became the primary.",
  },
  "database address leads to another database": {
    level: "error",
    meaning: "Another cluster or database is at the address.",
    action: "To serve that database, restart the instances. Otherwise, correct the address.",
  },
  "writing thread ended": {
    level: "error",
    meaning: "The thread that writes to SQLite failed. Updates and `/readyz` return 503.",
    action: "Restart the service. Report the `error`.",
  },
  "store file damaged": {
    level: "error",
    meaning: "A file of the store was deleted, moved, truncated or overwritten.",
    action: "See [Damaged files](backup.md#damaged-files).",
  },
  "updates saved into the database file": {
    level: "warn",
    meaning: "After such damage, all updates of the log are in the database file.",
  },
  "updates not saved": {
    level: "error",
    meaning: "After such damage, the updates in the log could not be copied.",
    action:
      "Before you stop the process, copy its open files, including the deleted ones, from `/proc/PID/fd/`. Otherwise these updates may be lost.",
  },
  "ending without closing the store": {
    level: "error",
    meaning: "Another process has replaced the log of the store. The process kills itself.",
  },
  "ledger damaged": {
    level: "error",
    meaning: "A ledger row is missing. The list and `/readyz` return 503.",
    action: "Run `petstore verify`. Undo the change or restore a backup.",
  },
  "ledger repaired": { level: "info", meaning: "The ledger has no gap any more." },
  "webhook continues after lost rows": {
    level: "warn",
    meaning:
      "A failover or a restore lost rows that were delivered. The webhook continues after row `seq`.",
    action: "Make the receiver forget the numbers after `seq`.",
  },
  "webhook failing": { level: "warn", meaning: "A delivery failed for the first time." },
  "webhook delivering again": {
    level: "info",
    meaning: "A delivery succeeded again, after `failures` failures.",
  },
  "webhook paused": {
    level: "error",
    meaning: "Every attempt has failed for three days. `reason` has the last result.",
    action: "Repair the receiver, then `petstore webhooks resume ID`. Nothing is lost.",
  },
  "webhook disabled": {
    level: "error",
    meaning: "The receiver returned 410.",
    action: "If that was a mistake, `petstore webhooks resume ID`.",
  },
  "backup before migration": {
    level: "info",
    meaning: "The schema of a SQLite store is older. `file` is a verified copy from before.",
    action: "Delete the file once you will not go back to the earlier version.",
  },
  migrated: {
    level: "info",
    meaning: "The schema of the store was migrated, from version `from` to version `to`.",
  },
  "store created": {
    level: "info",
    meaning: "There was no store. The service created `store`.",
    action: "If there should be one, stop the service and correct `--database`.",
  },
} as const satisfies Record<string, EventKind>;

export type EventName = keyof typeof events;

/** Writes one event to the service's log. Callers never pass secrets. */
export type Log = (event: EventName, details?: Record<string, unknown>) => void;
