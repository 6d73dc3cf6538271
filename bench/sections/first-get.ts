// What the first GET after a change costs, against a GET of bytes that did not change.
import { type Bench, compare, divide, sized } from "../bench.ts";
import { checkPets } from "../catalogue.ts";
import { type Contestant, captureList, startService } from "../contestants.ts";
import type { Measured } from "../generator.ts";

export async function firstGet(bench: Bench): Promise<void> {
  const { book, directory, options } = bench;
  const entries = options.quick ? 10_000 : 100_000;
  const service = await startService({ directory, entries });
  const expectedFile = await captureList(service, directory, entries);

  const [unchanged] = await compare(bench, [
    { contestant: service, work: { kind: "get", connections: 1, expectedFile } },
  ]);
  const first = await alternate(bench, service, entries);
  const [patch] = await compare(bench, [
    { contestant: service, work: { kind: "patch", connections: 1, entries } },
  ]);

  // An alternating run's processor time is shared by two answers; what is left after the PATCH's
  // own cost is the GET's, background work that the change set off included.
  const cpuMicroseconds =
    first.cpuMicroseconds === undefined
      ? undefined
      : 2 * first.cpuMicroseconds - (patch!.cpuMicroseconds ?? 0);
  const scenario = `first GET, ${sized(entries)}, 1 connection`;
  book.row(scenario, "service, unchanged", "get", unchanged!);
  book.row(scenario, "service, after PATCH", "get", { ...first, cpuMicroseconds });
  book.row(scenario, "service, PATCH alone", "patch", patch!);
  book.figure("firstGet", divide(cpuMicroseconds, unchanged!.cpuMicroseconds));
  await service.stop();
}

/** Best of the rounds; each starts from the list as it is by then. */
async function alternate(bench: Bench, service: Contestant, entries: number): Promise<Measured> {
  const { generator, options, directory } = bench;
  let best: Measured | undefined;
  for (let round = 0; round <= options.repeats; round++) {
    const expectedFile = await captureList(service, directory, entries, checkPets);
    const work = { kind: "first-get", entries, expectedFile } as const;
    const measured = await generator.measure(service, work, options.runMs);
    if (round === 0) continue;
    if ((measured.cpuMicroseconds ?? 0) <= (best?.cpuMicroseconds ?? Number.POSITIVE_INFINITY)) {
      best = measured;
    }
  }
  return best!;
}
