export interface Panel {
  readonly title: string;
  readonly unit: string;
  /** What the panel shows, and what a high or low value means. */
  readonly description: string;
  /** Queries with their legends. `$at` stands for the selected instances. */
  readonly queries: Readonly<Record<string, string>>;
}

const panel = (
  title: string,
  unit: string,
  description: string,
  queries: Panel["queries"],
): Panel => ({ title, unit, description, queries });

/** A rate, summed by labels. */
const rate = (metric: string, by: string, others = "") =>
  `sum by (${by}) (rate(${metric}{$at${others}}[$__rate_interval]))`;
const quantile = (share: number, histogram: string, by = "") =>
  `histogram_quantile(${share}, ${rate(`${histogram}_bucket`, by === "" ? "le" : `le, ${by}`)})`;
const quantiles = (histogram: string) => ({
  p50: quantile(0.5, histogram),
  p95: quantile(0.95, histogram),
  p99: quantile(0.99, histogram),
});
const mean = (histogram: string) =>
  `${rate(`${histogram}_sum`, "instance")} / ${rate(`${histogram}_count`, "instance")}`;

/** The panels of the dashboard, by the title of their row. */
export const rows: Readonly<Record<string, readonly Panel[]>> = {
  Traffic: [
    panel(
      "Requests",
      "reqps",
      "Requests per second, by operation. Requests without a valid key are included.",
      { "{{operation}}": rate("petstore_requests_total", "operation") },
    ),
    panel(
      "Responses by status",
      "reqps",
      "Responses per second, by the class of their status. 4xx are mostly mistakes of clients, 5xx are those of the service.",
      {
        "{{status}}": rate("petstore_requests_total", "status"),
      },
    ),
    panel(
      "Response bytes",
      "Bps",
      "Bytes per second in the bodies of responses, after compression.",
      {
        "{{operation}}": rate("petstore_response_bytes_total", "operation"),
      },
    ),
  ],
  "Errors and refusals": [
    panel(
      "Share of 5xx",
      "percentunit",
      "The share of requests that failed because of the service. Anything above zero for more than a moment needs a look at the log.",
      {
        "{{instance}}": `${rate("petstore_requests_total", "instance", ', status="5xx"')} / ${rate("petstore_requests_total", "instance")}`,
      },
    ),
    panel(
      "Refusals",
      "reqps",
      "Requests per second that were refused, by error code, with the reason of a 503.",
      {
        "{{code}} {{reason}}": `${rate("petstore_refusals_total", "code, reason")} > 0`,
      },
    ),
    panel(
      "Events of the log",
      "short",
      "Log lines by level. Dropped lines and spans mean that the reader of the log or the collector does not keep up. Dropped requests are errors that `petstore requests` does not show.",
      {
        "{{level}}": "sum by (level) (increase(petstore_log_events_total{$at}[$__rate_interval]))",
        "dropped lines": "sum(increase(petstore_log_lines_dropped_total{$at}[$__rate_interval]))",
        "dropped spans": "sum(increase(petstore_trace_spans_dropped_total{$at}[$__rate_interval]))",
        "dropped requests":
          "sum(increase(petstore_refused_requests_dropped_total{$at}[$__rate_interval]))",
      },
    ),
  ],
  Latency: [
    panel(
      "Duration of requests",
      "s",
      "How long requests take, from their arrival to their response. p99 is the time that one request in 100 exceeds.",
      quantiles("petstore_request_duration_seconds"),
    ),
    panel("p99 by operation", "s", "The time that one request in 100 exceeds, by operation.", {
      "{{operation}}": quantile(0.99, "petstore_request_duration_seconds", "operation"),
    }),
    panel(
      "Delay of the event loop",
      "s",
      "How much later than planned a timer runs. A high value means that the process has too little CPU time, or does long work at once.",
      quantiles("petstore_event_loop_delay_seconds"),
    ),
  ],
  Commits: [
    panel(
      "Duration of transactions",
      "s",
      "How long the store takes to commit a group of updates. It is mostly the time of a disk flush.",
      quantiles("petstore_commit_duration_seconds"),
    ),
    panel(
      "Changes per transaction",
      "short",
      "How many changes share one transaction, on average. It grows with the load.",
      { "{{instance}}": mean("petstore_commit_changes") },
    ),
    panel(
      "Waiting changes",
      "short",
      "Changes that wait for a transaction. From the upper line on, updates get 503.",
      {
        "{{instance}}": "petstore_waiting_changes{$at}",
        "refused from": "max(petstore_waiting_changes_max{$at})",
      },
    ),
    panel(
      "Failed transactions",
      "ops",
      "Transactions per second that failed, by reason. Their updates got an error.",
      {
        "{{reason}}": `${rate("petstore_commit_failures_total", "reason")} > 0`,
      },
    ),
  ],
  Store: [
    panel("Store up", "short", "1 while the instance can use its store, 0 while it cannot.", {
      "{{instance}}": "petstore_database_up{$at}",
    }),
    panel(
      "Entries and ledger rows",
      "short",
      "Pets in the inventory, those whose stock is low, and changes since the store was created.",
      {
        entries: "max(petstore_entries{$at})",
        "low entries": "max(petstore_low_stock_entries{$at})",
        "ledger rows": "max(petstore_ledger_seq{$at})",
      },
    ),
    panel(
      "Rows that the list lacks",
      "short",
      "Changes that the list in memory has not applied yet. A load means that the instance read the whole inventory again.",
      {
        "{{instance}}": "petstore_follower_distance_rows{$at}",
        "loads of {{instance}}": "increase(petstore_follower_loads_total{$at}[$__rate_interval])",
      },
    ),
    panel(
      "SQLite files",
      "bytes",
      "The size of the database and of its write-ahead log, and the free space on their disk.",
      {
        database: "petstore_sqlite_file_bytes{$at}",
        "write-ahead log": "petstore_sqlite_wal_bytes{$at}",
        "free on the disk": "petstore_sqlite_disk_free_bytes{$at}",
      },
    ),
    panel(
      "PostgreSQL round trips",
      "ops",
      "Round trips to the database and statements per second.",
      {
        "round trips {{instance}}": rate("petstore_database_round_trips_total", "instance"),
        "statements {{instance}}": rate("petstore_database_statements_total", "instance"),
      },
    ),
    panel("PostgreSQL connections", "short", "Connections to the database, by state.", {
      "{{state}} {{instance}}": "petstore_database_connections{$at}",
    }),
  ],
  "Feed and webhooks": [
    panel(
      "Open streams",
      "short",
      "Clients that follow the feed, and streams that were cut off because their clients did not read.",
      {
        "{{instance}}": "petstore_streams_open{$at}",
        "cut off {{instance}}": "increase(petstore_streams_cut_off_total{$at}[$__rate_interval])",
      },
    ),
    panel(
      "Webhooks",
      "short",
      "Webhooks by state. A failing webhook is active, and its last attempt failed.",
      {
        "{{state}}": "max by (state) (petstore_webhooks{$at})",
        failing: "max(petstore_webhooks_failing{$at})",
      },
    ),
    panel("Changes behind", "short", "Changes that the slowest webhook has not delivered yet.", {
      "slowest webhook": "max(petstore_webhook_rows_behind{$at})",
    }),
    panel(
      "Delivery attempts",
      "ops",
      "Requests to the receivers of webhooks per second, by result.",
      {
        "{{result}}": rate("petstore_webhook_attempts_total", "result"),
      },
    ),
  ],
  Backups: [
    panel("Age of the last backup", "s", "The time since the last backup that succeeded.", {
      age: "min(petstore_backup_age_seconds{$at})",
    }),
    panel(
      "Age of the continuous copy",
      "s",
      "The time since the last check that found every update in it.",
      { age: "max(petstore_replica_age_seconds{$at})" },
    ),
    panel("Duration of the last backup", "s", "How long the last backup took.", {
      duration: "max(petstore_backup_duration_seconds{$at})",
    }),
    panel(
      "Last backup and drill",
      "dateTimeFromNow",
      "When a backup and a drill last succeeded and last failed.",
      {
        "backup succeeded": "max(petstore_backup_last_success_timestamp_seconds{$at}) * 1000",
        "backup failed": "max(petstore_backup_last_failure_timestamp_seconds{$at}) * 1000",
        "drill succeeded": "max(petstore_drill_last_success_timestamp_seconds{$at}) * 1000",
        "drill failed": "max(petstore_drill_last_failure_timestamp_seconds{$at}) * 1000",
      },
    ),
  ],
  Process: [
    panel("CPU", "percentunit", "CPU time per second. 100 % is one core.", {
      "{{instance}}": rate("process_cpu_seconds_total", "instance"),
    }),
    panel("Resident memory", "bytes", "Memory of the process.", {
      "{{instance}}": "process_resident_memory_bytes{$at}",
    }),
    panel(
      "Open descriptors",
      "short",
      "Open files and connections, and the limit of the process.",
      {
        "{{instance}}": "process_open_fds{$at}",
        limit: "min(process_max_fds{$at})",
      },
    ),
    panel(
      "Uptime",
      "s",
      "The time since the start of each instance. A line that drops to zero is a restart.",
      {
        "{{instance}}": "time() - process_start_time_seconds{$at}",
        "{{instance}} stops": "petstore_stopping{$at} > 0",
      },
    ),
    panel(
      "Versions",
      "short",
      "Instances by version, Bun, engine and environment. Two lines during an upgrade are normal.",
      {
        "{{version}} Bun {{bun}} {{engine}} {{environment}}":
          "count by (version, bun, engine, environment) (petstore_build_info{$at})",
      },
    ),
  ],
};
