// What metrics, the request log and traces cost: GET with each of them against GET with none, in turn.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "../bench.ts";
import { best } from "../best.ts";
import { compareVersions } from "../comparison.ts";
import { captureList, type Service, startService } from "../contestants.ts";
import type { Measured } from "../generator.ts";
import { freePort } from "../start-server.ts";

const entries = 20;
const connections = 64;
const warmUpRuns = 3;
/** Many short runs: the shorter a round, the less the machine drifts in it. */
const repeatsMin = 36;
const runMs = 300;
/**
 * Rounds with the same processes. Two processes of the same code differ by up to a tenth, as the
 * compiler of the runtime happens to optimize them, so several of each are compared.
 */
const roundsPerStart = 4;

interface Variant {
  name: string;
  env: Record<string, string>;
  /** Otherwise the benchmark reads standard error from a pipe. */
  stderrFile?: string;
  /** The largest acceptable loss. Without it, a variant is only shown. */
  bound?: number;
  metricsPort?: number;
}

export async function monitoring(bench: Bench): Promise<void> {
  const collector = startCollector();
  const variants = await listVariants(bench, collector.url.origin);
  const measured = new Map<Variant, Measured[]>(variants.map((variant) => [variant, []]));
  const repeats = bench.options.quick ? 2 : Math.max(bench.options.repeats, repeatsMin);
  let services = await startAll(bench, variants);
  for (let round = 0; round < repeats; round++) {
    if (round > 0 && round % roundsPerStart === 0) {
      await stopAll(services);
      services = await startAll(bench, variants);
    }
    // Rotated, so that every variant is first and last equally often.
    const at = round % variants.length;
    const order = [...services.running.slice(at), ...services.running.slice(0, at)];
    for (const { variant, service } of order) {
      const { expected } = services;
      measured.get(variant)!.push(await measureOne(bench, variant, service, expected, runMs));
    }
  }
  report(bench, variants, measured);
  await stopAll(services);
  await collector.stop(true);
}

/** The first and the last are the same. They differ only by noise. */
async function listVariants({ directory }: Bench, collectorUrl: string): Promise<Variant[]> {
  const metricsPort = await freePort();
  const all = { PETSTORE_LOG_REQUESTS: "all" };
  const stderrFile = join(mkdtempSync(join(directory, "log-")), "requests.log");
  return [
    { name: "nothing", env: {} },
    {
      name: "metrics",
      env: { PETSTORE_METRICS_PORT: String(metricsPort) },
      bound: 0.03,
      metricsPort,
    },
    { name: "log of all requests, to a file", env: all, stderrFile, bound: 0.15 },
    { name: "log of all requests, to a pipe", env: all, bound: 0.15 },
    {
      name: "traces, ratio 0.1",
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl, OTEL_TRACES_SAMPLER_ARG: "0.1" },
    },
    { name: "nothing again", env: {} },
  ];
}

interface Services {
  readonly running: readonly { readonly variant: Variant; readonly service: Service }[];
  /** The file with the list that every response must have. */
  readonly expected: string;
}

async function stopAll({ running }: Services): Promise<void> {
  await Promise.all(running.map(({ service }) => service.stop()));
}

/** Starts a service for each variant, and sends each some load first. */
async function startAll(bench: Bench, variants: Variant[]): Promise<Services> {
  const { directory } = bench;
  const running: { variant: Variant; service: Service }[] = [];
  for (const variant of variants) {
    const { name, env, stderrFile } = variant;
    const options = { directory, entries, name, env };
    const service = await startService(stderrFile ? { ...options, stderrFile } : options);
    running.push({ variant, service });
  }
  const expected = await captureList(running[0]!.service, directory, entries);
  for (const { variant, service } of running) {
    await measureOne(bench, variant, service, expected, warmUpRuns * runMs);
  }
  return { running, expected };
}

/** A service with metrics is scraped once in every run. */
async function measureOne(
  { generator }: Bench,
  { metricsPort }: Variant,
  service: Service,
  expectedFile: string,
  durationMs: number,
): Promise<Measured> {
  const work = { kind: "get", connections, expectedFile } as const;
  const running = generator.measure(service, work, durationMs);
  if (metricsPort !== undefined) {
    await Bun.sleep(durationMs / 2);
    const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    if (!(await response.text()).includes("petstore_requests_total")) {
      throw new Error("The scrape has no metrics.");
    }
  }
  return running;
}

function report({ results }: Bench, variants: Variant[], measured: Map<Variant, Measured[]>): void {
  const scenario = `GET, ${entries} entries, ${connections} connections`;
  const [none, again] = [measured.get(variants[0]!)!, measured.get(variants.at(-1)!)!];
  for (const variant of variants) {
    const runs = measured.get(variant)!;
    results.addRow(scenario, variant.name, "get", best(runs));
    if (variant === variants[0] || variant === variants.at(-1)) continue;
    const rounds = runs.map((run, at) => ({
      old: none[at]!,
      new: run,
      "old again": again[at]!,
    }));
    const title = `${scenario}: ${variant.name}`;
    const bound = variant.bound ?? 1;
    const starts = Array.from({ length: Math.ceil(rounds.length / roundsPerStart) }, (_, at) =>
      rounds.slice(at * roundsPerStart, (at + 1) * roundsPerStart),
    );
    results.comparisons.push(...compareVersions({ title, kind: "get", bound }, starts));
  }
}

/** Takes traces and forgets them. */
function startCollector() {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      await request.arrayBuffer();
      return Response.json({});
    },
  });
}
