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
  started: {
    level: "info",
    meaning:
      "The service accepts requests at `address`. Also has its version, environment, engine and schema.",
  },
  stopping: { level: "info", meaning: "A signal arrived. The service stops." },
  stopped: {
    level: "info",
    meaning: "Every request has its response, and the store is closed. The process ends.",
  },
  "console missing": {
    level: "warn",
    meaning: "The files of the console are missing. `/console` says so. The API is not affected.",
    action: "Run `npm run build:console` in the folder of the service, and start it again.",
  },
  "store created": {
    level: "info",
    meaning: "There was no store. The service created `store`.",
    action: "If you did not expect this, stop the service and correct `--database`.",
  },
  "store migrated": {
    level: "info",
    meaning: "The schema of the store was migrated from version `from` to version `to`.",
  },
  "backup before migration": {
    level: "info",
    meaning: "Before a migration, the SQLite store was copied to `file`, and the copy was checked.",
    action: "Delete the file when you no longer want to go back to the earlier version.",
  },
  "store lost": {
    level: "error",
    meaning: "The store cannot be read. `cause` says why. Requests get 503.",
    action: "Start or repair the database. The service reconnects by itself.",
  },
  "store back": {
    level: "info",
    meaning: "The store can be read again, after `failures` failed attempts in `durationMs`.",
  },
  "store not writable": {
    level: "error",
    meaning:
      "Updates cannot be stored. `cause` says why, for example that the disk is full. Updates get 503, and reads continue.",
    action: "Free disk space or repair the disk. The service continues by itself.",
  },
  "store writable again": {
    level: "info",
    meaning:
      "Updates are stored again, after `failures` failed writes. `durationMs` is the time from the first to the last of them. It is logged at the first success that comes at least two seconds after the last failure.",
  },
  "commits slow": {
    level: "warn",
    meaning: "A transaction of updates took more than a second: `commitMs`.",
    action: "Check the disk, or the load of the database server.",
  },
  "commits fast again": {
    level: "info",
    meaning:
      "Commits take less than a second again, after `failures` slow ones. `durationMs` is the time from the first to the last of them.",
  },
  "requests failing": {
    level: "error",
    meaning:
      "Requests get 503 for this [`reason`](#reasons). `requestId` and `operation` name the first one, and `cause` says more.",
    action: "See [Reasons](#reasons), the `cause`, and the events about the store before it.",
  },
  "requests stopped failing": {
    level: "info",
    meaning:
      "For ten seconds no request has failed for this `reason`. `failures` is the number of failed requests, and `durationMs` the time from the first to the last of them.",
  },
  request: {
    level: "info",
    meaning: "A request has its response. See [Requests](#requests).",
  },
  "log lines dropped": {
    level: "warn",
    meaning:
      "`lines` lines could not be written: too many at once, or the disk of the log is full.",
    action: "Read standard error faster, free disk space, or log fewer requests.",
  },
  crash: {
    level: "error",
    meaning: "An unexpected error ended the process.",
    action: "Report it with these lines. A supervisor should restart the process.",
  },
  bug: {
    level: "error",
    meaning:
      "An unexpected error in a request, which got a 500. Further requests with the same error are counted, not logged.",
    action: "Report it. `requestId` is the `X-Request-Id` of the response.",
  },
  "task failed": {
    level: "warn",
    meaning: "Background work, named in `task`, started to fail. It is tried again.",
    action: "If it continues, see the `error` or the `cause`.",
  },
  "task succeeded again": {
    level: "info",
    meaning: "Background work succeeds again, after `failures` failures.",
  },
  "clock jumped": {
    level: "warn",
    meaning:
      "The clock of the service or of the database server, named in `clock`, moved by `byMs` at once. Rate limits and bans that it started in the future are corrected, and idempotency keys are kept.",
    action: "Check the time synchronization of that machine.",
  },
  "key banned": {
    level: "warn",
    meaning: "The key `keyId` is banned until `until`, because its client ignored 429.",
    action: "See [Bans](keys.md#rate-limits-and-bans). `petstore keys unban ID` ends the ban.",
  },
  "bans not read": { level: "warn", meaning: "Bans could not be read. They are read again later." },
  "usage and bans not saved": {
    level: "warn",
    meaning: "The counts of the last second before a stop could not be saved, and are lost.",
  },
  "slow reader of a snapshot cut off": {
    level: "warn",
    meaning: "A client stopped reading a snapshot while others waited. Its connection was closed.",
  },
  "snapshot failed": {
    level: "error",
    meaning: "An inventory of the past could not be read to its end. The connection was closed.",
    action:
      "If the store is damaged, run `petstore verify`. See [Damaged checkpoints](troubleshooting.md#damaged-checkpoints).",
  },
  "slow readers cut off": {
    level: "warn",
    meaning:
      "Slow clients kept too many old lists in memory, so their connections were reset. `keyId` names the key.",
  },
  "database keeps no prepared statements": {
    level: "error",
    meaning: "A connection pooler drops prepared statements.",
    action: "Add `prepare=false` to the address.",
  },
  "database primary cannot be checked": {
    level: "warn",
    meaning:
      "The connections work, but no host accepts another one. Until a check succeeds, a failover may go unnoticed.",
    action: "Make the hosts reachable, and keep a connection slot free on each.",
  },
  "database primary can be checked": {
    level: "info",
    meaning: "A host accepts connections again, after `failures` failed checks.",
  },
  "database primary replaced": {
    level: "warn",
    meaning: "A standby became the primary. The service now uses it.",
  },
  "database address leads to another database": {
    level: "error",
    meaning: "The address now leads to another cluster or database. Requests get 503.",
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
    action: "See [Damaged files](sqlite.md#damaged-files).",
  },
  "updates saved into the database file": {
    level: "warn",
    meaning:
      "After damage to a file, all updates were copied from the write-ahead log into the database file.",
    action: "Continue as [Damaged files](sqlite.md#damaged-files) says.",
  },
  "updates not saved": {
    level: "error",
    meaning:
      "After damage to a file, updates could not be copied from the write-ahead log into the database file.",
    action:
      "Before you stop the process, copy its open files, including the deleted ones, from `/proc/PID/fd/`. Otherwise these updates may be lost.",
  },
  "ending without closing the store": {
    level: "error",
    meaning:
      "The write-ahead log was replaced. The process kills itself, so that SQLite does not mix the two logs.",
    action: "See [Damaged files](sqlite.md#damaged-files).",
  },
  "ledger damaged": {
    level: "error",
    meaning: "A ledger row is missing. The list and `/readyz` return 503.",
    action: "Run `petstore verify`. Undo the change or restore a backup.",
  },
  "list reloaded": {
    level: "info",
    meaning:
      "The whole list was read into memory again, after a failover, a restore or many changes at once.",
  },
  "ledger repaired": {
    level: "info",
    meaning: "The ledger has no gap any more. Requests are served again.",
  },
  "webhook continues after lost rows": {
    level: "warn",
    meaning:
      "A failover or a restore lost rows that were delivered. The webhook continues after row `seq`.",
    action: "Make the receiver forget the numbers after `seq`.",
  },
  "webhook failing": {
    level: "warn",
    meaning: "A delivery failed. It is tried again for three days.",
    action: "`petstore webhooks show ID` shows the last attempts.",
  },
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
  "backup made": {
    level: "info",
    meaning: "The service made a backup, after `failures` failures if there were any.",
  },
  "backup failed": {
    level: "error",
    meaning:
      "A backup failed. The service tries again after five minutes, or after `--backup-every` if that is shorter.",
    action: "Free disk space, or correct `--backup-folder` or its permissions.",
  },
  "backups ahead of the store": {
    level: "error",
    meaning:
      "`files` backups in the folder have ledger rows that the store does not have, among them `newest`. The service never removes them.",
    action:
      "If the store was lost or replaced, stop the service, move the store away and restore `newest`. If you restored an earlier backup, move the later ones to another place.",
  },
  "certificate loaded": {
    level: "info",
    meaning: "The service uses the TLS certificate `subject`, which expires at `expiresAt`.",
  },
  "certificate reloaded": {
    level: "info",
    meaning:
      "The files of the TLS certificate changed. New connections get the new certificate, and open ones continue.",
  },
  "certificate not loaded": {
    level: "error",
    meaning:
      "The files of the TLS certificate changed and cannot be used. The last certificate, `inUse`, stays in use.",
    action: "Correct what `error` names. The files are read again every second.",
  },
} as const satisfies Record<string, EventKind>;

export type EventName = keyof typeof events;

/** Writes one event to the service's log, later. Callers never pass secrets. */
export interface Log {
  (event: EventName, details?: Record<string, unknown>): void;
  /** Resolves when everything is written, or after a bounded time. For the end of the process. */
  flush?(): Promise<void>;
}
