import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { readConfig } from "../../src/config.ts";
import { packageVersion } from "../../src/version.ts";
import { type Collector, startCollector } from "../support/collector.ts";
import { type Engine, startTestService, surfaceEngine } from "../support/service.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const parentId = "b7ad6b7169203331";
const parent = (flags: string) => ({ traceparent: `00-${traceId}-${parentId}-${flags}` });
const traces = { ...readConfig({}, {}).traces, delayMs: 10 };

async function startTraced(
  collector: Collector,
  flags: Record<string, string> = {},
  engine: Engine = "sqlite",
  bounds = traces,
) {
  const all = { "otlp-endpoint": collector.url, "trace-ratio": "0", ...flags };
  const service = await startTestService(engine, all, { traces: bounds });
  await service.addPets({ petId: 1n });
  const { text: key } = await service.issueKey();
  return { service, key };
}

for (const engine of [surfaceEngine]) {
  test(`an update on ${engine} is a span of its client's trace, with its parts inside`, async () => {
    const collector = startCollector();
    const flags = {
      "otlp-endpoint": `${collector.url}otlp/`,
      "otlp-headers": "x-token=a%2Cb, x-tenant=shop",
    };
    const { service, key } = await startTraced(collector, flags, engine);
    const headers = { ...parent("01"), tracestate: "vendor=1" };
    const body = '{"quantity":4}';
    const { headers: response } = await service.call("PATCH", "/inventory/1", {
      key,
      body,
      headers,
    });
    await collector.received(4);
    const [whole, ...parts] = collector.spans;
    expect(whole).toMatchObject({
      traceId,
      parentSpanId: parentId,
      traceState: "vendor=1",
      name: "PATCH /v1/inventory/{petId}",
      kind: 2,
      status: {},
      attributes: {
        "http.request.method": "PATCH",
        "http.route": "/v1/inventory/{petId}",
        "http.response.status_code": "200",
        "petstore.request_id": response.get("X-Request-Id")!,
      },
    });
    expect(parts.map(({ name }) => name)).toEqual(["limit", "commit wait", "transaction"]);
    for (const part of parts) {
      expect(part).toMatchObject({ traceId, parentSpanId: whole!.spanId, kind: 1 });
      const times = [whole, part].map((span) => BigInt(span!.startTimeUnixNano));
      const ends = [whole, part].map((span) => BigInt(span!.endTimeUnixNano));
      expect(times[0]! <= times[1]! && times[1]! <= ends[1]! && ends[1]! <= ends[0]!).toBe(true);
    }
    const startedMs = Number(BigInt(whole!.startTimeUnixNano) / 1_000_000n);
    expect(Math.abs(startedMs - service.clock.now())).toBeLessThan(10_000);
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(4);
    expect(collector.resource).toEqual({
      "service.name": "petstore-inventory",
      "service.version": packageVersion(),
      "deployment.environment.name": "production",
    });
    const [request] = collector.requests;
    expect(new URL(request!.url).pathname).toBe("/otlp/v1/traces");
    expect(request!.headers.get("x-token")).toBe("a,b");
    expect(request!.headers.get("x-tenant")).toBe("shop");
    await service.stop();
    await collector.stop();
  });
}

test("the client's flag decides what is traced, and else the ratio", async () => {
  const collector = startCollector();
  for (const ratio of ["0", "1"]) {
    const { service, key } = await startTraced(collector, { "trace-ratio": ratio });
    const get = (headers: Record<string, string>) =>
      service.call("GET", "/inventory/1", { key, headers });
    await get(parent("00"));
    await get({});
    await get({ traceparent: `00-${traceId}-${"0".repeat(16)}-01` });
    await get(parent("01"));
    await service.call("GET", "/nothing", { key, headers: parent("01") });
    await service.stop();
  }
  const requests = collector.spans.filter(({ kind }) => kind === 2);
  const seen = requests.map((span) => [span.name, span.traceId === traceId, span.parentSpanId]);
  const get = "GET /v1/inventory/{petId}";
  const sampled = [
    [get, true, parentId],
    ["GET", true, parentId],
  ];
  const own = [get, false, undefined];
  expect(seen).toEqual([...sampled, own, own, ...sampled]);
  await collector.stop();
});

test("a stop sends the spans that wait, and does not wait for a silent collector", async () => {
  const collector = startCollector();
  expect(traces.stopMs).toBeLessThan(1_000);
  // A stop that waited for the collector would take ten minutes.
  const slow = { ...traces, delayMs: 600_000, timeoutMs: 600_000, stopMs: 200 };
  const first = await startTraced(collector, {}, "sqlite", slow);
  await first.service.call("GET", "/inventory", { key: first.key, headers: parent("01") });
  expect(collector.spans).toHaveLength(0);
  await first.service.stop();
  expect(collector.spans).toHaveLength(2);
  collector.mode = "silent";
  const second = await startTraced(collector, {}, "sqlite", slow);
  await second.service.call("GET", "/inventory", { key: second.key, headers: parent("01") });
  await second.service.stop();
  await collector.stop();
});

test("the code for traces is loaded only if there is a collector", async () => {
  const root = resolve(import.meta.dir, "../..");
  const loaded = async (endpoint: string) => {
    const script = `
      const { startService } = await import("${root}/src/compose.ts");
      const { readConfig } = await import("${root}/src/config.ts");
      const flags = { port: "0", database: "sqlite::memory:x", "otlp-endpoint": "${endpoint}" };
      const { openTraces } = await import("${root}/src/compose/traces.ts");
      const options = { config: readConfig(flags, {}), clock: Date, log() {} };
      await using opened = new AsyncDisposableStack();
      await openTraces(options, [], opened);
      console.log(Object.keys(require.cache).filter((path) => path.includes("/src/traces/")).length);`;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
    return Number(await new Response(child.stdout).text());
  };
  expect(await Promise.all([loaded(""), loaded("http://127.0.0.1:1")])).toEqual([0, 3]);
});

test("headers for the collector that cannot be parsed are refused without showing them", async () => {
  for (const headers of ["secret", "=secret", "a b=secret", "a=%zz"]) {
    const flags = { "otlp-endpoint": "http://127.0.0.1:1", "otlp-headers": headers };
    await expect(startTestService("sqlite", flags)).rejects.toThrow(
      /^--otlp-headers must be name=value, separated by commas$/,
    );
  }
});
