// Cost against the size of the catalogue: the plot, PATCH at a million entries against a thousand,
// memory and start.
import { type Bench, compare, divide, readersFor, sized } from "../bench.ts";
import { captureList, startFloor, startService, startServiceOn } from "../contestants.ts";
import { memoryOf } from "../processes.ts";

const repeats = 2;
const entriesMost = 1_000_000;

export async function growth(bench: Bench): Promise<void> {
  const sizes = bench.options.quick ? [20, 1000, 10_000] : [20, 1000, 10_000, 100_000, entriesMost];
  const patchCost = new Map<number, number | undefined>();
  for (const entries of sizes) patchCost.set(entries, await growthAt(bench, entries));
  bench.book.figure("patchGrowth", divide(patchCost.get(entriesMost), patchCost.get(1000)));
}

/** Measures one size and returns the processor time of a PATCH there. */
async function growthAt(bench: Bench, entries: number): Promise<number | undefined> {
  const { book, directory, options } = bench;
  const setting = { directory, entries };
  const filled = await startService(setting);
  const floor = await startFloor(filled, directory);
  // Started again on data that is there: the first start's caches are warm and nothing is new.
  await filled.stop();
  const service = await startServiceOn(setting, filled.database, filled.target.key);
  const atReady = memoryOf(service.pid);

  const expectedFile = await captureList(service, directory, entries);
  const connections = readersFor(options, entries);
  const [ours, least] = await compare(
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

  const scenario = `growth, ${sized(entries)}`;
  book.row(scenario, "service GET", "get", ours!);
  book.row(scenario, "floor GET", "get", least!);
  book.row(scenario, "service PATCH", "patch", patch!);
  book.point("GET, service", entries, ours!.cpuMicroseconds);
  book.point("PATCH, service", entries, patch!.cpuMicroseconds);
  book.point("GET, floor", entries, least!.cpuMicroseconds);
  book.note(
    `${sized(entries)}: ready after ${(service.startMs / 1000).toFixed(2)} s; ` +
      `${atReady?.residentMb.toFixed(0) ?? "n/a"} MB resident then, ` +
      `${afterLoad?.residentMb.toFixed(0) ?? "n/a"} MB after reads and writes, ` +
      `${afterLoad?.peakMb.toFixed(0) ?? "n/a"} MB at the peak.`,
  );
  if (entries === entriesMost) {
    book.figure("memory", afterLoad?.residentMb);
    book.figure("start", service.startMs / 1000);
  }
  await Promise.all([service.stop(), floor.stop()]);
  return patch!.cpuMicroseconds;
}
