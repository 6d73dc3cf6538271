/** From the least to the most severe. */
export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** One kind of event in the log. */
export interface EventKind {
  readonly level: LogLevel;
  /** What happened, for the documentation. */
  readonly meaning: string;
  /** What the operator should do, if anything. */
  readonly action: string | undefined;
}

const kind =
  (level: LogLevel) =>
  (meaning: string, action?: string): EventKind => ({ level, meaning, action });

const info = kind("info");
const warn = kind("warn");
const error = kind("error");

/**
 * Every event that the service logs. The documentation is generated from this list. An event is
 * logged when a state changes, not for every request that the state affects.
 */
export const events = {
  started: info(
    "The service accepts requests at `address`. Also has its version, environment, engine and schema.",
  ),
  "no encryption": warn(
    "The service listens on `host` with plain HTTP, and no trusted proxy is set. Whoever sees the traffic sees keys.",
    "Set `--tls-cert` and `--tls-key`, or put a proxy in front and set `--trusted-proxies`. See [TLS](tls.md).",
  ),
  stopping: info("A signal arrived. The service stops."),
  stopped: info("Every request has its response, and the store is closed. The process ends."),
  "console missing": warn(
    "The files of the console are missing. `/console` says so. The API is not affected.",
    "Run `npm run build:console` in the folder of the service, and start it again.",
  ),
  "store created": info(
    "There was no store. The service created `store`.",
    "If you did not expect this, stop the service and correct `--database`.",
  ),
  "older store accepted": warn(
    "The store has the ledger up to row `found`, but row `acknowledged` was acknowledged. The service was told to start without the rows in between.",
    "Remove `--accept-older` from the command line. Tell clients and receivers of webhooks [what is missing](backup.md#after-a-disaster).",
  ),
  "mark missing": warn(
    "The file `-changes` has no mark of the last acknowledged row, so whether the store has all of them is not known. The service writes a new mark.",
    "Nothing, if only the database was copied. Otherwise compare the store with a backup or a kept hash.",
  ),
  "store lost": error(
    "The store cannot be read. `cause` says why. Requests get 503.",
    "Start or repair the database. The service reconnects by itself.",
  ),
  "store back": info(
    "The store can be read again, after `failures` failed attempts in `durationMs`.",
  ),
  "store not writable": error(
    "Updates cannot be stored. `cause` says why, for example that the disk is full. Updates get 503, and reads continue.",
    "Free disk space or repair the disk. The service continues by itself.",
  ),
  "store writable again": info(
    "Updates are stored again, after `failures` failed writes. `durationMs` is the time from the first to the last of them. It is logged at the first success that comes at least two seconds after the last failure.",
  ),
  "commits slow": warn(
    "A transaction of updates took more than a second: `commitMs`.",
    "Check the disk, or the load of the database server.",
  ),
  "commits fast again": info(
    "Commits take less than a second again, after `failures` slow ones. `durationMs` is the time from the first to the last of them.",
  ),
  "requests failing": error(
    "Requests get 503 for this [`reason`](#reasons). `requestId` and `operation` name the first one, and `cause` says more.",
    "See [Reasons](#reasons), the `cause`, and the events about the store before it.",
  ),
  "requests stopped failing": info(
    "For ten seconds no request has failed for this `reason`. `failures` is the number of failed requests, and `durationMs` the time from the first to the last of them.",
  ),
  request: info("A request has its response. See [Requests](#requests)."),
  "log lines dropped": warn(
    "`lines` lines could not be written: too many at once, or the disk of the log is full.",
    "Read standard error faster, free disk space, or log fewer requests.",
  ),
  crash: error(
    "An unexpected error ended the process.",
    "Report it with these lines. A supervisor should restart the process.",
  ),
  bug: error(
    "An unexpected error in a request, which got a 500. Further requests with the same error are counted, not logged.",
    "Report it. `requestId` is the `X-Request-Id` of the response.",
  ),
  "task failed": warn(
    "Background work, named in `task`, started to fail. It is tried again.",
    "If it continues, see the `error` or the `cause`.",
  ),
  "task succeeded again": info("Background work succeeds again, after `failures` failures."),
  "clock jumped": warn(
    "The clock of the service or of the database server, named in `clock`, moved by `byMs` at once. Rate limits and bans that it started in the future are corrected, and idempotency keys are kept.",
    "Check the time synchronization of that machine.",
  ),
  "sign-ins failed": warn(
    "In the last minute, `failures` requests to the operator API from `address` had a wrong key. One line per minute and address; addresses beyond a hundred are `others`.",
    "If nobody has mistyped a key, find out who sends them. `--sign-in-per-minute` limits them.",
  ),
  "key banned": warn(
    "The key `keyId` is banned until `until`, because its client ignored 429.",
    "See [Bans](keys.md#rate-limits-and-bans). `petstore keys unban ID` ends the ban.",
  ),
  "bans not read": warn("Bans could not be read. They are read again later."),
  "usage and bans not saved": warn(
    "The counts of the last second before a stop could not be saved, and are lost.",
  ),
  "slow reader of a snapshot cut off": warn(
    "A client stopped reading a snapshot while others waited. Its connection was closed.",
  ),
  "snapshot failed": error(
    "An inventory of the past could not be read to its end. The connection was closed.",
    "If the store is damaged, run `petstore verify`. See [Damaged checkpoints](troubleshooting.md#damaged-checkpoints).",
  ),
  "slow readers cut off": warn(
    "Slow clients kept too many old lists in memory, so their connections were reset. `keyId` names the key.",
  ),
  "database keeps no prepared statements": error(
    "A connection pooler drops prepared statements.",
    "Add `prepare=false` to the address.",
  ),
  "database primary cannot be checked": warn(
    "The connections work, but no host accepts another one. Until a check succeeds, a failover may go unnoticed.",
    "Make the hosts reachable, and keep a connection slot free on each.",
  ),
  "database primary can be checked": info(
    "A host accepts connections again, after `failures` failed checks.",
  ),
  "database primary replaced": warn("A standby became the primary. The service now uses it."),
  "database address leads to another database": error(
    "The address now leads to another cluster or database. Requests get 503.",
    "To serve that database, restart the instances. Otherwise, correct the address.",
  ),
  "writing thread ended": error(
    "The thread that writes to SQLite failed. Updates and `/readyz` return 503.",
    "Restart the service. Report the `error`.",
  ),
  "store file damaged": error(
    "A file of the store was deleted, moved, truncated or overwritten.",
    "See [Damaged files](sqlite.md#damaged-files).",
  ),
  "ledger damaged": error(
    "A ledger row is missing. The list and `/readyz` return 503.",
    "Run `petstore verify`. Undo the change or restore a backup.",
  ),
  "list reloaded": info(
    "The whole list was read into memory again, after a failover, a restore or many changes at once.",
  ),
  "ledger repaired": info("The ledger has no gap any more. Requests are served again."),
  "webhook continues after lost rows": warn(
    "A failover or a restore lost rows that were delivered. The webhook continues after row `seq`.",
    "Make the receiver forget the numbers after `seq`.",
  ),
  "webhook failing": warn(
    "A delivery failed. It is tried again for three days.",
    "`petstore webhooks show ID` shows the last attempts.",
  ),
  "webhook delivering again": info("A delivery succeeded again, after `failures` failures."),
  "webhook paused": error(
    "Every attempt has failed for three days. `reason` has the last result.",
    "Repair the receiver, then `petstore webhooks resume ID`. Nothing is lost.",
  ),
  "webhook disabled": error(
    "The receiver returned 410.",
    "If that was a mistake, `petstore webhooks resume ID`.",
  ),
  "backup made": info("The service made a backup, after `failures` failures if there were any."),
  "backup failed": error(
    "A backup failed. The service tries again after five minutes, or after `--backup-every` if that is shorter.",
    "Free disk space, or correct `--backup-folder` or its permissions.",
  ),
  "backups ahead of the store": error(
    "`files` backups in the folder have ledger rows that the store does not have, among them `newest`. The service never removes them.",
    "If the store was lost or replaced, stop the service, move the store away and restore `newest`. If you restored an earlier backup, move the later ones to another place.",
  ),
  "replica not current": warn(
    "A check of the continuous copy failed: the last updates may not be in it. `error` says why. It is checked again every 30 seconds.",
    "See [Litestream](litestream.md#when-the-copy-is-not-current), and its log.",
  ),
  "replica too old": error(
    "No check of the continuous copy has succeeded for five minutes. `ageSeconds` is the time since the last success, or since the start of the service.",
    "Repair the copy: if the disk is lost now, all updates of that time are lost.",
  ),
  "replica current again": info(
    "Every update is in the continuous copy again, after `failures` failed checks.",
  ),
  "certificate loaded": info(
    "The service uses the TLS certificate `subject`, which expires at `expiresAt`.",
  ),
  "certificate reloaded": info(
    "The files of the TLS certificate changed. New connections get the new certificate, and open ones continue.",
  ),
  "certificate not loaded": error(
    "The files of the TLS certificate changed and cannot be used. The last certificate, `inUse`, stays in use.",
    "Correct what `error` names. The files are read again every second.",
  ),
} satisfies Record<string, EventKind>;

export type EventName = keyof typeof events;

/** Writes one event to the service's log, later. Callers never pass secrets. */
export interface Log {
  (event: EventName, details?: Record<string, unknown>): void;
  /** Resolves when everything is written, or after a bounded time. For the end of the process. */
  flush?(): Promise<void>;
}
