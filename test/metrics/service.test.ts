import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { errorCodes } from "../../src/domain/running/errors.ts";
import { metrics } from "../../src/metrics/table.ts";
import { anEntry } from "../support/audit.ts";
import { type Exposition, sampleOf, scrape } from "../support/metrics.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { webhookNamed } from "../support/webhooks.ts";

const patienceMs = 5_000;
const withMetrics = { "metrics-port": "0" };
/** More often than in production, so that tests wait less. */
const bounds = { metricsReadEveryMs: 50 };

/** What the service shows after it has read the store for the first time. */
const firstReads = [
  ["petstore_database_up", 1],
  ["petstore_webhooks_failing", 0],
  ["petstore_backup_last_success_timestamp_seconds", 0],
] as const;

/** Scrapes until a series has a value. */
async function untilValue(service: TestService, series: string, wanted: number): Promise<void> {
  const read = async () => sampleOf(await scrape(service.metricsUrl), series);
  await until(async () => (await read()) === wanted, patienceMs, `${series} ${wanted}`);
}

describe.each([surfaceEngine])("on %s", (engine) => {
  let service: TestService;
  let key: string;
  let before: Exposition;
  beforeAll(async () => {
    service = await startTestService(engine, { ...withMetrics, "address-per-minute": "2" }, bounds);
    await service.addPets({ petId: 1n }, { petId: 2n });
    key = (await service.issueKey()).text;
    for (const [series, value] of firstReads) await untilValue(service, series, value);
    before = await scrape(service.metricsUrl);
  });
  afterAll(() => service.stop());

  test("a scrape has every metric of the engine, and counters never fall", async () => {
    const expected = Object.values(metrics).filter((one) => (one.engine ?? engine) === engine);
    expect([...before.keys()]).toEqual(expected.map(({ name }) => name));
    for (const { name, kind, help } of expected) {
      expect(before.get(name)).toMatchObject({ kind, help });
    }
    await service.call("GET", "/inventory", { key });
    const after = await scrape(service.metricsUrl);
    expect([...after.keys()]).toEqual([...before.keys()]);
    for (const [name, { kind, samples }] of before) {
      if (kind === "gauge") continue;
      for (const [series, value] of samples) {
        const later = after.get(name)!.samples.get(series);
        expect([series, later]).toEqual([series, expect.any(Number)]);
        expect(later!).toBeGreaterThanOrEqual(value);
      }
    }
  });

  test("requests, refusals, bytes and commits are counted, and no request adds a series", async () => {
    const narrow = await service.issueKey({ scopes: ["pets:read"] });
    const spent = await service.issueKey({ limits: { perMinute: 1, perDay: 1 } });
    const start = await scrape(service.metricsUrl);
    const list = await service.call("GET", "/inventory", { key });
    const update = { key, body: '{"quantity":7}' };
    for (let sent = 0; sent < 3; sent++) await service.call("PATCH", "/inventory/1", update);
    await service.call("GET", "/inventory", { key: narrow.text });
    await service.call("GET", "/no/such/path", { key });
    await service.call("DELETE", "/inventory", { key });
    for (let sent = 0; sent < 3; sent++) await service.call("GET", "/inventory");
    for (let sent = 0; sent < 2; sent++)
      await service.call("GET", "/inventory", { key: spent.text });
    const end = await scrape(service.metricsUrl);
    const grown = (series: string) => sampleOf(end, series)! - sampleOf(start, series)!;
    const requests = (operation: string, status: string) =>
      grown(`petstore_requests_total{operation="${operation}",status="${status}"}`);
    const refusals = (code: string, reason = "") =>
      grown(`petstore_refusals_total{code="${code}",reason="${reason}"}`);
    expect({
      listed: requests("listInventory", "2xx"),
      refused: requests("listInventory", "4xx"),
      updated: requests("updateInventory", "2xx"),
      unknown: requests("none", "4xx"),
      measured: grown('petstore_request_duration_seconds_count{operation="updateInventory"}'),
      unauthorized: refusals("unauthorized"),
      address: refusals("rate_limit_exceeded", "address"),
      key: refusals("rate_limit_exceeded", "key"),
      scope: refusals("insufficient_scope"),
      path: refusals("not_found"),
      method: refusals("method_not_allowed"),
      commits: grown("petstore_commit_duration_seconds_count"),
      changes: grown("petstore_commit_changes_sum"),
    }).toEqual({
      listed: 2,
      refused: 5,
      updated: 3,
      unknown: 2,
      measured: 3,
      unauthorized: 2,
      address: 1,
      key: 1,
      scope: 1,
      path: 1,
      method: 1,
      commits: 3,
      changes: 3,
    });
    const bytes = grown('petstore_response_bytes_total{operation="listInventory"}');
    expect(bytes).toBeGreaterThan(list.text.length);
    const seconds = grown('petstore_request_duration_seconds_sum{operation="updateInventory"}');
    expect(seconds).toBeWithin(0.000_01, 10);
    if (engine === "postgres") {
      const trips = grown("petstore_database_round_trips_total");
      expect(trips).toBeGreaterThanOrEqual(6);
      expect(grown("petstore_database_statements_total")).toBeGreaterThan(trips);
    }
    const seriesOf = (exposition: Exposition) =>
      [...exposition.values()].flatMap(({ samples }) => [...samples.keys()]);
    expect(seriesOf(end)).toEqual(seriesOf(start));
  });

  test("every error code has a series from the start", () => {
    const refusals = [...before.get("petstore_refusals_total")!.samples.keys()];
    for (const code of errorCodes) expect(refusals.join()).toContain(`code="${code}"`);
  });

  test("the store, webhooks, backups and drills are shown as they are", async () => {
    const { webhooks, maintenance, inventory } = service.store;
    const at = service.clock.now();
    const { epoch, seq } = await inventory.readHead();
    await maintenance.startTask("backup", at - 900_000, 0);
    await maintenance.endTask("backup", at - 60_000, '{"durationMs":30000}');
    await maintenance.startTask("drill", at - 20_000, 0);
    await maintenance.failTask("drill", at - 10_000, "no space");
    await webhooks.addWebhook(webhookNamed("wh_paused", { state: "paused" }), anEntry);
    const cursor = { epoch, seq: seq - 2 };
    const nextAttemptAt = at + 3_600_000;
    const failing = { cursor, failures: 3, failingSince: at, nextAttemptAt };
    await webhooks.addWebhook(webhookNamed("wh_failing", failing), anEntry);
    await untilValue(service, "petstore_webhooks_failing", 1);
    await untilValue(service, "petstore_drill_last_failure_timestamp_seconds", at / 1_000 - 10);
    const shown = await scrape(service.metricsUrl);
    const values = {
      petstore_database_up: 1,
      'petstore_webhooks{state="active"}': 1,
      'petstore_webhooks{state="paused"}': 1,
      petstore_webhook_rows_behind: 2,
      petstore_backup_last_success_timestamp_seconds: at / 1_000 - 60,
      petstore_backup_last_failure_timestamp_seconds: 0,
      petstore_backup_age_seconds: 60,
      petstore_backup_age_max_seconds: 26 * 3_600,
      petstore_backup_duration_seconds: 30,
      petstore_drill_last_success_timestamp_seconds: 0,
      petstore_ledger_seq: seq,
      petstore_entries: 2,
      petstore_follower_distance_rows: 0,
      petstore_waiting_changes: 0,
      petstore_waiting_changes_max: 10_000,
      petstore_streams_open: 0,
      petstore_stopping: 0,
      ...(engine === "postgres" ? { 'petstore_database_connections{state="closed"}': 0 } : {}),
    };
    for (const [series, value] of Object.entries(values)) {
      expect([series, sampleOf(shown, series)]).toEqual([series, value]);
    }
    const positive = [
      "process_cpu_seconds_total",
      "process_resident_memory_bytes",
      "process_start_time_seconds",
      "petstore_follower_loads_total",
      "petstore_event_loop_delay_seconds_count",
      ...(engine === "postgres"
        ? ['petstore_database_connections{state="open"}']
        : ["petstore_sqlite_file_bytes", "petstore_sqlite_disk_free_bytes"]),
    ];
    for (const series of positive)
      expect([series, sampleOf(shown, series)! > 0]).toEqual([series, true]);
    const [info] = shown.get("petstore_build_info")!.samples.keys();
    expect(info).toMatch(
      new RegExp(`version="\\d.*",bun="1\\..*",engine="${engine}",environment="production"`),
    );
  });
});

test("only GET and HEAD of /metrics are served, and neither port serves what the other does", async () => {
  const service = await startTestService("sqlite", withMetrics);
  const url = service.metricsUrl!;
  const got = await fetch(url);
  expect(got.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const head = await fetch(url, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect(head.headers.get("Content-Type")).toBe(got.headers.get("Content-Type"));
  const posted = await fetch(url, { method: "POST", body: "x" });
  expect([posted.status, posted.headers.get("Allow")]).toEqual([405, "GET, HEAD"]);
  for (const path of ["/", "/metrics/", "/v1/inventory", "/healthz"]) {
    expect((await fetch(new URL(path, url))).status).toBe(404);
  }
  expect((await service.call("GET", "~/metrics")).status).toBe(404);
  await service.stop();
  await expect(fetch(url)).rejects.toThrow();
  const without = await startTestService("sqlite");
  expect(without.metricsUrl).toBeUndefined();
  await without.stop();
});

test("a listener on this machine serves only addresses and localhost, so no page can lead its own name there", async () => {
  const service = await startTestService("sqlite", withMetrics);
  const { port } = new URL(service.metricsUrl!);
  const statusFor = async (host: string) =>
    (await fetch(service.metricsUrl!, { headers: { Host: host } })).status;
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, "LOCALHOST", `[::1]:${port}`]) {
    expect([host, await statusFor(host)]).toEqual([host, 200]);
  }
  for (const host of [`shop.example:${port}`, "localhost.example", "127.0.0.1.example"]) {
    expect([host, await statusFor(host)]).toEqual([host, 421]);
  }
  await service.stop();
  const open = await startTestService("sqlite", { ...withMetrics, "metrics-host": "0.0.0.0" });
  const { port: openPort } = new URL(open.metricsUrl!);
  const named = { headers: { Host: "petstore.monitoring.svc" } };
  expect((await fetch(`http://127.0.0.1:${openPort}/metrics`, named)).status).toBe(200);
  await open.stop();
});

test("a port that is taken ends the start with a message that names it", async () => {
  const service = await startTestService("sqlite", withMetrics);
  const { port } = new URL(service.metricsUrl!);
  await expect(startTestService("sqlite", { "metrics-port": port })).rejects.toThrow(
    `cannot listen on 127.0.0.1:${port}`,
  );
  await service.stop();
});

test("while the service stops, its metrics are still served", async () => {
  const service = await startTestService("sqlite", { ...withMetrics, "drain-seconds": "1" });
  const stopped = service.stop();
  await untilValue(service, "petstore_stopping", 1);
  await stopped;
});

test("a database file that was moved shows in the metrics", async () => {
  const service = await startTestService("sqlite", withMetrics, bounds);
  const { text: key } = await service.issueKey();
  await service.addPets({ petId: 1n });
  await untilValue(service, "petstore_database_up", 1);
  const path = service.databaseUrl.slice("sqlite:".length);
  renameSync(path, `${path}.moved`);
  await untilValue(service, "petstore_database_up", 0);
  const update = { key, body: '{"quantity":7}' };
  expect((await service.call("PATCH", "/inventory/1", update)).status).toBe(503);
  const shown = await scrape(service.metricsUrl);
  const failed = {
    'petstore_refusals_total{code="unavailable",reason="unwritable"}': 1,
    'petstore_commit_failures_total{reason="unwritable"}': 1,
    // The transaction that failed is the only one.
    petstore_commit_duration_seconds_count: 1,
    petstore_commit_changes_sum: 1,
    'petstore_log_events_total{level="error",event="store file damaged"}': 1,
    petstore_sqlite_file_bytes: 0,
  };
  for (const [series, value] of Object.entries(failed)) {
    expect([series, sampleOf(shown, series)]).toEqual([series, value]);
  }
  await service.stop();
});
