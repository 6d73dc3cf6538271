// The longest turn of the event loop and the peak memory: at the start, during reads, during an
// import that changes every entry, and during random updates with reads.
import { join } from "node:path";
import { type Bench, formatEntries } from "../bench.ts";
import { writeCatalogue } from "../catalogue.ts";
import { importCatalogue, type Service, startService, startServiceOn } from "../contestants.ts";
import { type ProbeReport, probeEnvironment, readProbe } from "../probe-client.ts";

const readEveryMs = 100;
const healthEveryMs = 10;

export async function turns(bench: Bench): Promise<void> {
  const { results, directory, generator, options } = bench;
  const entries = options.quick ? 50_000 : 1_000_000;
  const startOptions = { directory, entries };
  const filled = await startService(startOptions);
  await filled.stop();
  const probeFile = join(directory, "probe.json");
  const env = probeEnvironment(probeFile);
  const service = await startServiceOn(
    { ...startOptions, env },
    filled.database,
    filled.target.key,
  );
  const phases: Record<string, ProbeReport> = {};
  const probe = async (phase: string) => {
    phases[phase] = await readProbe(service.pid, probeFile);
  };
  await probe("start");
  for (let reading = 0; reading < 3; reading++) await read(service, "/v1/inventory");
  await probe("reads");

  const changed = writeCatalogue(directory, entries, 1);
  const waits = await readDuring(service, () => importCatalogue(changed, service.database));
  await probe("import");
  const work = { kind: "patch", connections: options.writers, entries } as const;
  await readDuring(service, () => generator.measure(service, work, options.runMs * 3));
  await probe("updates");
  await service.stop();

  for (const [phase, { turnMs, wallMs, peakMb }] of Object.entries(phases)) {
    results.addNote(
      `Event loop, ${formatEntries(entries)}, ${phase}: longest turn ${turnMs.toFixed(0)} ms ` +
        `(${wallMs.toFixed(0)} ms with waits for a core), ${peakMb.toFixed(0)} MB at the peak so far.`,
    );
  }
  results.addNote(
    `During the import of ${formatEntries(entries)} that all change, the slowest /healthz took ` +
      `${waits.healthMs.toFixed(0)} ms and the slowest list ${waits.listMs.toFixed(0)} ms.`,
  );
  if (options.quick) return;
  results.addFigure("turn", Math.max(...Object.values(phases).map(({ turnMs }) => turnMs)));
  results.addFigure("importMemory", phases.import!.peakMb);
}

/** Reads the list and /healthz during the work. Returns the slowest of each. */
async function readDuring(service: Service, work: () => Promise<unknown>) {
  let isDone = false;
  const worst = async (path: string, everyMs: number) => {
    let worstMs = 0;
    while (!isDone) {
      worstMs = Math.max(worstMs, await read(service, path));
      await Bun.sleep(everyMs);
    }
    return worstMs;
  };
  const waits = Promise.all([
    worst("/v1/inventory", readEveryMs),
    worst("/healthz", healthEveryMs),
  ]);
  await work();
  // One more list, which has to include the last changes.
  await read(service, "/v1/inventory");
  isDone = true;
  const [listMs, healthMs] = await waits;
  return { listMs, healthMs };
}

/** Returns the milliseconds until the response was complete. */
async function read({ target }: Service, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${target.key}`, "accept-encoding": "identity" };
  const startedAt = performance.now();
  const response = await fetch(`http://${target.host}:${target.port}${path}`, { headers });
  if (response.status !== 200) throw new Error(`GET ${path} returned status ${response.status}.`);
  await response.arrayBuffer();
  return performance.now() - startedAt;
}
