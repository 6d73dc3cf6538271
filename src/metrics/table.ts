import { backupAgeMsMax } from "../domain/operations/attention.ts";
import { lowStockRule } from "../domain/sales/sales.ts";
import { counter, gauge, histogram, type Metric } from "./metric.ts";

const requestSeconds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
const commitSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const groupSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];
const delaySeconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

/** Every metric of the service, in the order in which they are exposed. */
export const metrics = {
  requests: counter(
    "petstore_requests_total",
    "Requests to the API, by operation and status class. Operation `none`: no such path or method.",
    { labels: ["operation", "status"] },
  ),
  requestDuration: histogram(
    "petstore_request_duration_seconds",
    "Time from the arrival of a request until its response is handed to the server.",
    { labels: ["operation"], bounds: requestSeconds },
  ),
  responseBytes: counter(
    "petstore_response_bytes_total",
    "Length of the response bodies, as sent. Streams of the feed count as 0.",
    { labels: ["operation"] },
  ),
  refusals: counter(
    "petstore_refusals_total",
    "Responses with an error, by its code. 429 and 503 also have a reason, as in the log.",
    { labels: ["code", "reason"] },
  ),
  refusalsDropped: counter(
    "petstore_refused_requests_dropped_total",
    "Refused and failed requests that `petstore requests` does not show: too many at once, or the store could not be written.",
  ),
  commitDuration: histogram(
    "petstore_commit_duration_seconds",
    "Duration of transactions with updates, including failed ones. On PostgreSQL it includes the wait for transactions that were sent before.",
    { bounds: commitSeconds },
  ),
  commitChanges: histogram("petstore_commit_changes", "Changes in one transaction with updates.", {
    bounds: groupSizes,
  }),
  commitFailures: counter(
    "petstore_commit_failures_total",
    "Transactions with updates that failed, by reason.",
    { labels: ["reason"] },
  ),
  waitingChanges: gauge("petstore_waiting_changes", "Changes that wait for a transaction."),
  waitingChangesMax: gauge(
    "petstore_waiting_changes_max",
    "With this many waiting changes, updates get 503. One key alone can have half of them. Set by `--writes-waiting-max`.",
  ),
  databaseUp: gauge(
    "petstore_database_up",
    "1 if the store works, as for `/readyz`, otherwise 0. Checked every five seconds. It is 1 on a full disk, which can still be read.",
  ),
  ledgerSeq: gauge(
    "petstore_ledger_seq",
    "The `seq` of the last ledger row that this process has seen.",
  ),
  entries: gauge("petstore_entries", "Entries in the inventory, approximately."),
  lowStockEntries: gauge("petstore_low_stock_entries", `Entries that are low. ${lowStockRule}`),
  followerDistance: gauge(
    "petstore_follower_distance_rows",
    "Ledger rows that the list in memory does not contain yet.",
  ),
  followerLoads: counter(
    "petstore_follower_loads_total",
    "How often the whole inventory was read into memory, including at the start.",
  ),
  statements: counter("petstore_database_statements_total", "Statements sent to PostgreSQL.", {
    engine: "postgres",
  }),
  roundTrips: counter(
    "petstore_database_round_trips_total",
    "Round trips to PostgreSQL. Statements that are sent together share one.",
    { engine: "postgres" },
  ),
  connections: gauge(
    "petstore_database_connections",
    "Connections that the service keeps to PostgreSQL, by state.",
    { labels: ["state"], engine: "postgres" },
  ),
  fileBytes: gauge("petstore_sqlite_file_bytes", "Size of the database file.", {
    engine: "sqlite",
  }),
  walBytes: gauge("petstore_sqlite_wal_bytes", "Size of the write-ahead log.", {
    engine: "sqlite",
  }),
  diskFreeBytes: gauge(
    "petstore_sqlite_disk_free_bytes",
    "Free space on the disk of the database file.",
    { engine: "sqlite" },
  ),
  streamsOpen: gauge("petstore_streams_open", "Open streams of the feed."),
  streamsCutOff: counter(
    "petstore_streams_cut_off_total",
    "Streams of the feed whose client did not read and was cut off.",
  ),
  webhooks: gauge("petstore_webhooks", "Webhooks, by state.", { labels: ["state"] }),
  webhooksFailing: gauge("petstore_webhooks_failing", "Active webhooks whose last attempt failed."),
  webhookRowsBehind: gauge(
    "petstore_webhook_rows_behind",
    "Ledger rows after the cursor of the active webhook that is furthest behind.",
  ),
  webhookAttempts: counter(
    "petstore_webhook_attempts_total",
    "Attempts of this process to deliver a webhook, by status class of the response.",
    { labels: ["result"] },
  ),
  backupSuccess: gauge(
    "petstore_backup_last_success_timestamp_seconds",
    "When the last backup succeeded, by its record or by the newest file. 0 if there is none.",
  ),
  backupFailure: gauge(
    "petstore_backup_last_failure_timestamp_seconds",
    "When a backup last failed. 0 if none has.",
  ),
  backupAge: gauge(
    "petstore_backup_age_seconds",
    "Time since the last backup. No value if there is none.",
  ),
  backupAgeMax: gauge(
    "petstore_backup_age_max_seconds",
    `The age from which the last backup is too old: twice \`--backup-every\`, or ${backupAgeMsMax(undefined) / 3_600_000} hours without it.`,
  ),
  backupDuration: gauge(
    "petstore_backup_duration_seconds",
    "Duration of the last backup. No value if none has succeeded.",
  ),
  backupsAhead: gauge(
    "petstore_backups_ahead",
    "Backups in the folder with ledger rows that the store does not have. No value until they were compared.",
  ),
  replicaAge: gauge(
    "petstore_replica_age_seconds",
    "Time since the start of the last check that found every update in the continuous copy, or since the start of the service. No value without `--replica-check`.",
  ),
  drillSuccess: gauge(
    "petstore_drill_last_success_timestamp_seconds",
    "When the last restore drill succeeded. 0 if none has.",
  ),
  drillFailure: gauge(
    "petstore_drill_last_failure_timestamp_seconds",
    "When a restore drill last failed. 0 if none has.",
  ),
  logEvents: counter(
    "petstore_log_events_total",
    "Log events, including those below `--log-level`.",
    { labels: ["level", "event"] },
  ),
  linesDropped: counter(
    "petstore_log_lines_dropped_total",
    "Log lines that were dropped: they could not be written, or there were too many.",
  ),
  spansDropped: counter(
    "petstore_trace_spans_dropped_total",
    "Trace spans that were never sent: too many waited, or the collector rejected them.",
  ),
  certificateExpiry: gauge(
    "petstore_certificate_expiry_timestamp_seconds",
    "When the TLS certificate in use expires. No value without a certificate.",
  ),
  eventLoopDelay: histogram(
    "petstore_event_loop_delay_seconds",
    "How late a timer fires, measured 20 times a second.",
    { bounds: delaySeconds },
  ),
  stopping: gauge("petstore_stopping", "1 while the service stops."),
  buildInfo: gauge("petstore_build_info", "Always 1. The labels describe the process.", {
    labels: ["version", "bun", "engine", "environment"],
  }),
  cpuSeconds: counter("process_cpu_seconds_total", "CPU time of the process, user and system."),
  residentBytes: gauge("process_resident_memory_bytes", "Resident memory of the process."),
  openFds: gauge("process_open_fds", "Open file descriptors. Only on Linux."),
  maxFds: gauge("process_max_fds", "Maximum number of open file descriptors. Only on Linux."),
  startTime: gauge("process_start_time_seconds", "When the process started, since 1970."),
} as const satisfies Record<string, Metric>;
