import { expect, test } from "bun:test";
import type { ErrorCode } from "../../src/domain/running/errors.ts";
import { startExporter } from "../../src/traces/exporter.ts";
import { createTracer, type Span } from "../../src/traces/tracer.ts";
import { startCollector } from "../support/collector.ts";
import { until } from "../support/until.ts";

const bounds = {
  queueMax: 25,
  batchMax: 10,
  delayMs: 5,
  timeoutMs: 10_000,
  retryMsMax: 20,
  stopMs: 200,
};
const resource = { serviceName: "a", serviceVersion: "1", environment: "staging" };

function start(url: string, timeoutMs = bounds.timeoutMs) {
  const logged: unknown[] = [];
  const exporter = startExporter({
    url,
    headers: {},
    resource,
    bounds: { ...bounds, timeoutMs },
    log: (event, details) => void logged.push({ event, ...details }),
  });
  return { exporter, logged };
}

/** The span of one request without parts. */
function span(status = 200, method = "GET", errorCode?: ErrorCode): Span {
  const spans: Span[] = [];
  const tracer = createTracer({
    ratio: 1,
    random: () => 0.5,
    now: Date.now,
    monotonicMs: () => performance.now(),
    finished: (found) => void spans.push(...found),
  });
  const request = { requestId: "req_1", method, route: undefined, status, errorCode };
  tracer.end(tracer.begin(new Headers())!, { ...request, startedMs: 1, durationMs: 1 });
  return spans[0]!;
}

test("a collector that is slow, fails or is gone costs a bounded number of spans, which arrive later", async () => {
  const collector = startCollector();
  const { exporter, logged } = start(collector.url, 500);
  for (const mode of [503, "silent"] as const) {
    collector.mode = mode;
    const failed = collector.requests.length + 2;
    const dropped = exporter.dropped();
    for (let added = 0; added < 100; added++) exporter.add([span()]);
    expect(exporter.dropped()).toBe(dropped + 75);
    await until(() => collector.requests.length >= failed, 8_000, "two attempts");
    expect(collector.spans).toHaveLength(0);
    exporter.add([span()]);
    expect(exporter.dropped()).toBe(dropped + 76);
    collector.mode = 200;
    await collector.received(25);
    await until(() => logged.length === 2, 8_000, "logged");
    expect(logged.splice(0)).toMatchObject([
      { event: "task failed", task: "sending traces" },
      { event: "task succeeded again", task: "sending traces" },
    ]);
    // A batch whose response was late is sent again.
    const received = new Set(collector.spans.splice(0).map(({ spanId }) => spanId));
    expect(received.size).toBe(25);
  }
  await collector.stop();
  exporter.add([span()]);
  await until(() => logged.length === 1, 8_000, "the collector is gone");
  await exporter.stop();
});

test("spans that the collector rejects are dropped and counted, and not sent again", async () => {
  const collector = startCollector();
  collector.mode = 400;
  const { exporter, logged } = start(collector.url);
  exporter.add([span(), span()]);
  await until(() => exporter.dropped() === 2, 8_000, "dropped");
  expect(logged[0]).toMatchObject({
    event: "task failed",
    error: expect.stringContaining("400"),
  });
  collector.mode = 200;
  exporter.add([span()]);
  await collector.received(1);
  expect(collector.requests).toHaveLength(2);
  expect(collector.spans).toHaveLength(1);
  await exporter.stop();
  await collector.stop();
});

test("only a status from 500 is an error, and unknown methods have one name", () => {
  expect(span(404, "GET", "not_found")).toMatchObject({ isError: false, name: "GET" });
  expect(span(404, "GET", "not_found").attributes["error.type"]).toBeUndefined();
  expect(span(503, "GET", "unavailable")).toMatchObject({
    isError: true,
    attributes: { "error.type": "unavailable", "http.response.status_code": 503 },
  });
  expect(span(405, "BREW")).toMatchObject({
    name: "HTTP",
    attributes: { "http.request.method": "_OTHER", "http.request.method_original": "BREW" },
  });
});

test("the ratio is the share of the requests that are traced", () => {
  const randoms = [0, 0.24, 0.25, 0.9];
  const tracer = createTracer({
    ratio: 0.25,
    random: () => randoms.shift()!,
    now: Date.now,
    monotonicMs: () => 0,
    finished() {},
  });
  const sampled = [1, 2, 3, 4].map(() => tracer.begin(new Headers()) !== undefined);
  expect(sampled).toEqual([true, true, false, false]);
});
