// The cost of the first GET after a change, compared with a GET of an unchanged list.
import { type Bench, divide, formatEntries } from "../bench.ts";
import { best } from "../best.ts";
import { checkPets } from "../catalogue.ts";
import { captureList, startService } from "../contestants.ts";
import type { Measured } from "../generator.ts";
import type { Work } from "../work.ts";

export async function firstGet(bench: Bench): Promise<void> {
  const { results, directory, generator, options } = bench;
  const entries = options.quick ? 10_000 : 100_000;
  const service = await startService({ directory, entries });
  const rounds: { unchanged: Measured[]; pair: Measured[]; patch: Measured[] } = {
    unchanged: [],
    pair: [],
    patch: [],
  };
  for (let round = 0; round <= options.repeats; round++) {
    // Earlier rounds have changed the list.
    const expectedFile = await captureList(service, directory, entries, checkPets);
    const measure = (work: Work) => generator.measure(service, work, options.runMs);
    const unchanged = await measure({ kind: "get", connections: 1, expectedFile });
    const pair = await measure({ kind: "first-get", entries, expectedFile });
    const alone = { kind: "patch", connections: 1, entries, isComparedWithOthers: true } as const;
    const patch = await measure(alone);
    if (round === 0) continue;
    rounds.unchanged.push(unchanged);
    rounds.pair.push(pair);
    rounds.patch.push(patch);
  }
  const unchanged = best(rounds.unchanged);
  const pair = best(rounds.pair);
  const patch = best(rounds.patch);

  const cpuMicroseconds = costOfFirstGet(pair, patch);
  const scenario = `first GET, ${formatEntries(entries)}, 1 connection`;
  results.addRow(scenario, "service, unchanged", "get", unchanged);
  results.addRow(scenario, "service, after PATCH", "get", { ...pair, cpuMicroseconds });
  results.addRow(scenario, "service, PATCH alone", "patch", patch);
  if (!options.quick)
    results.addFigure("firstGet", divide(cpuMicroseconds, unchanged.cpuMicroseconds));
  await service.stop();
}

/**
 * Subtracts the CPU time of a PATCH alone from the CPU time of PATCH and GET together. Background
 * work that the change caused therefore counts toward the GET.
 */
export function costOfFirstGet(pair: Measured, patch: Measured): number | undefined {
  if (pair.cpuMicroseconds === undefined || patch.cpuMicroseconds === undefined) return undefined;
  return 2 * pair.cpuMicroseconds - patch.cpuMicroseconds;
}
