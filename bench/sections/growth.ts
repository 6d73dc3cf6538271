// The cost by size of the catalogue: CPU time of GET and PATCH for the plot, memory, and time to
// start.
import { type Bench, compare, divide, formatEntries, readersFor } from "../bench.ts";
import { captureList, startFloor, startService, startServiceOn } from "../contestants.ts";
import { memoryOf } from "../processes.ts";

const repeats = 2;
const entriesMax = 1_000_000;

export async function growth(bench: Bench): Promise<void> {
  const sizes = bench.options.quick ? [20, 1000, 10_000] : [20, 1000, 10_000, 100_000, entriesMax];
  const patchCost = new Map<number, number | undefined>();
  for (const entries of sizes) patchCost.set(entries, await growthAt(bench, entries));
  bench.results.addFigure("patchGrowth", divide(patchCost.get(entriesMax), patchCost.get(1000)));
}

/** Measures one size and returns the CPU time of a PATCH. */
async function growthAt(bench: Bench, entries: number): Promise<number | undefined> {
  const { results, directory, options } = bench;
  const startOptions = { directory, entries };
  const filled = await startService(startOptions);
  const floor = await startFloor(filled, directory);
  // The restart measures a start on existing data, with the files in the system's cache.
  await filled.stop();
  const service = await startServiceOn(startOptions, filled.database, filled.target.key);
  const atReady = memoryOf(service.pid);

  const expectedFile = await captureList(service, directory, entries);
  const connections = readersFor(options, entries);
  const [serviceGet, floorGet] = await compare(
    bench,
    [service, floor].map((contestant) => ({
      contestant,
      work: { kind: "get", connections, expectedFile },
    })),
    repeats,
  );
  const [patch] = await compare(
    bench,
    [{ contestant: service, work: { kind: "patch", connections: options.writers, entries } }],
    repeats,
  );
  const afterLoad = memoryOf(service.pid);

  const scenario = `growth, ${formatEntries(entries)}`;
  results.addRow(scenario, "service GET", "get", serviceGet!);
  results.addRow(scenario, "floor GET", "get", floorGet!);
  results.addRow(scenario, "service PATCH", "patch", patch!);
  results.addPoint("GET, service", entries, serviceGet!.cpuMicroseconds);
  results.addPoint("PATCH, service", entries, patch!.cpuMicroseconds);
  results.addPoint("GET, floor", entries, floorGet!.cpuMicroseconds);
  results.addNote(
    `${formatEntries(entries)}: ready after ${(service.startMs / 1000).toFixed(2)} s; ` +
      `${atReady?.residentMb.toFixed(0) ?? "n/a"} MB resident then, ` +
      `${afterLoad?.residentMb.toFixed(0) ?? "n/a"} MB after reads and writes, ` +
      `${afterLoad?.peakMb.toFixed(0) ?? "n/a"} MB at the peak.`,
  );
  if (entries === entriesMax) {
    results.addFigure("memory", afterLoad?.residentMb);
    results.addFigure("start", service.startMs / 1000);
  }
  await Promise.all([service.stop(), floor.stop()]);
  return patch!.cpuMicroseconds;
}
