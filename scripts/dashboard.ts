/**
 * Writes deploy/grafana/petstore.json, a dashboard that Grafana imports, from the panels below. With
 * --check it writes nothing and fails if the file differs.
 */

interface Panel {
  readonly title: string;
  readonly unit: string;
  /** Queries with their legends. `$at` stands for the selected instances. */
  readonly queries: Readonly<Record<string, string>>;
}

const panel = (title: string, unit: string, queries: Panel["queries"]): Panel => ({
  title,
  unit,
  queries,
});

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

const rows: Readonly<Record<string, readonly Panel[]>> = {
  Traffic: [
    panel("Requests", "reqps", { "{{operation}}": rate("petstore_requests_total", "operation") }),
    panel("Responses by status", "reqps", {
      "{{status}}": rate("petstore_requests_total", "status"),
    }),
    panel("Response bytes", "Bps", {
      "{{operation}}": rate("petstore_response_bytes_total", "operation"),
    }),
  ],
  "Errors and refusals": [
    panel("Share of 5xx", "percentunit", {
      "{{instance}}": `${rate("petstore_requests_total", "instance", ', status="5xx"')} / ${rate("petstore_requests_total", "instance")}`,
    }),
    panel("Refusals", "reqps", {
      "{{code}} {{reason}}": `${rate("petstore_refusals_total", "code, reason")} > 0`,
    }),
    panel("Events of the log", "short", {
      "{{level}}": "sum by (level) (increase(petstore_log_events_total{$at}[$__rate_interval]))",
      "dropped lines": "sum(increase(petstore_log_lines_dropped_total{$at}[$__rate_interval]))",
      "dropped spans": "sum(increase(petstore_trace_spans_dropped_total{$at}[$__rate_interval]))",
    }),
  ],
  Latency: [
    panel("Duration of requests", "s", quantiles("petstore_request_duration_seconds")),
    panel("p99 by operation", "s", {
      "{{operation}}": quantile(0.99, "petstore_request_duration_seconds", "operation"),
    }),
    panel("Delay of the event loop", "s", quantiles("petstore_event_loop_delay_seconds")),
  ],
  Commits: [
    panel("Duration of transactions", "s", quantiles("petstore_commit_duration_seconds")),
    panel("Changes per transaction", "short", { "{{instance}}": mean("petstore_commit_changes") }),
    panel("Waiting changes", "short", {
      "{{instance}}": "petstore_waiting_changes{$at}",
      "refused from": "max(petstore_waiting_changes_max{$at})",
    }),
    panel("Failed transactions", "ops", {
      "{{reason}}": `${rate("petstore_commit_failures_total", "reason")} > 0`,
    }),
  ],
  Store: [
    panel("Store up", "short", { "{{instance}}": "petstore_database_up{$at}" }),
    panel("Entries and ledger rows", "short", {
      entries: "max(petstore_entries{$at})",
      "ledger rows": "max(petstore_ledger_seq{$at})",
    }),
    panel("Rows that the list lacks", "short", {
      "{{instance}}": "petstore_follower_distance_rows{$at}",
      "loads of {{instance}}": "increase(petstore_follower_loads_total{$at}[$__rate_interval])",
    }),
    panel("SQLite files", "bytes", {
      database: "petstore_sqlite_file_bytes{$at}",
      "write-ahead log": "petstore_sqlite_wal_bytes{$at}",
      "free on the disk": "petstore_sqlite_disk_free_bytes{$at}",
    }),
    panel("PostgreSQL round trips", "ops", {
      "round trips {{instance}}": rate("petstore_database_round_trips_total", "instance"),
      "statements {{instance}}": rate("petstore_database_statements_total", "instance"),
    }),
    panel("PostgreSQL connections", "short", {
      "{{state}} {{instance}}": "petstore_database_connections{$at}",
    }),
  ],
  "Feed and webhooks": [
    panel("Open streams", "short", {
      "{{instance}}": "petstore_streams_open{$at}",
      "cut off {{instance}}": "increase(petstore_streams_cut_off_total{$at}[$__rate_interval])",
    }),
    panel("Webhooks", "short", {
      "{{state}}": "max by (state) (petstore_webhooks{$at})",
      failing: "max(petstore_webhooks_failing{$at})",
    }),
    panel("Changes behind", "short", {
      "slowest webhook": "max(petstore_webhook_rows_behind{$at})",
    }),
    panel("Delivery attempts", "ops", {
      "{{result}}": rate("petstore_webhook_attempts_total", "result"),
    }),
  ],
  Backups: [
    panel("Age of the last backup", "s", { age: "min(petstore_backup_age_seconds{$at})" }),
    panel("Duration of the last backup", "s", {
      duration: "max(petstore_backup_duration_seconds{$at})",
    }),
    panel("Last backup and drill", "dateTimeFromNow", {
      "backup succeeded": "max(petstore_backup_last_success_timestamp_seconds{$at}) * 1000",
      "backup failed": "max(petstore_backup_last_failure_timestamp_seconds{$at}) * 1000",
      "drill succeeded": "max(petstore_drill_last_success_timestamp_seconds{$at}) * 1000",
      "drill failed": "max(petstore_drill_last_failure_timestamp_seconds{$at}) * 1000",
    }),
  ],
  Process: [
    panel("CPU", "percentunit", { "{{instance}}": rate("process_cpu_seconds_total", "instance") }),
    panel("Resident memory", "bytes", { "{{instance}}": "process_resident_memory_bytes{$at}" }),
    panel("Open descriptors", "short", {
      "{{instance}}": "process_open_fds{$at}",
      limit: "min(process_max_fds{$at})",
    }),
    panel("Uptime", "s", {
      "{{instance}}": "time() - process_start_time_seconds{$at}",
      "{{instance}} stops": "petstore_stopping{$at} > 0",
    }),
    panel("Versions", "short", {
      "{{version}} Bun {{bun}} {{engine}} {{environment}}":
        "count by (version, bun, engine, environment) (petstore_build_info{$at})",
    }),
  ],
};

const selector = 'job="petstore", instance=~"$instance"';
const datasource = { type: "prometheus", uid: "$" + "{datasource}" };
const width = 8;
const height = 7;
const perLine = 24 / width;

function panelsOf(): unknown[] {
  const made: Record<string, unknown>[] = [];
  let y = 0;
  for (const [title, panels] of Object.entries(rows)) {
    made.push({
      type: "row",
      title,
      gridPos: { x: 0, y, w: 24, h: 1 },
      collapsed: false,
      panels: [],
    });
    y += 1;
    for (const [at, one] of panels.entries()) {
      const line = Math.floor(at / perLine);
      const gridPos = { x: (at % perLine) * width, y: y + line * height, w: width, h: height };
      made.push(panelAt(one, gridPos));
    }
    y += Math.ceil(panels.length / perLine) * height;
  }
  return made.map((one, at) => ({ id: at + 1, ...one }));
}

function panelAt({ title, unit, queries }: Panel, gridPos: object): Record<string, unknown> {
  const type = unit === "dateTimeFromNow" ? "stat" : "timeseries";
  const targets = Object.entries(queries).map(([legendFormat, query], at) => ({
    refId: String.fromCharCode(65 + at),
    expr: query.replaceAll("$at", selector),
    legendFormat,
  }));
  return {
    type,
    title,
    datasource,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets,
  };
}

export function dashboard(): object {
  return {
    title: "Pet Store Inventory",
    uid: "petstore-inventory",
    tags: ["petstore"],
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    templating: {
      list: [
        { name: "datasource", label: "Data source", type: "datasource", query: "prometheus" },
        {
          name: "instance",
          label: "Instance",
          type: "query",
          datasource,
          query: 'label_values(petstore_build_info{job="petstore"}, instance)',
          includeAll: true,
          multi: true,
          current: { text: "All", value: "$__all" },
          refresh: 2,
        },
      ],
    },
    panels: panelsOf(),
  };
}

if (import.meta.main) {
  const file = Bun.file(new URL("../deploy/grafana/petstore.json", import.meta.url).pathname);
  if (!process.argv.includes("--check")) {
    await Bun.write(file, `${JSON.stringify(dashboard(), null, 2)}\n`);
  } else if (!Bun.deepEquals(await file.json(), dashboard())) {
    console.error("deploy/grafana/petstore.json differs from scripts/dashboard.ts; run it");
    process.exitCode = 1;
  }
}
