// Measures the instances of one database together.
import { cpuMicrosecondsBetween, readCpu } from "./cpu.ts";
import type { Generator, Measured } from "./generator.ts";
import type { Contestant } from "./start-server.ts";
import type { Work } from "./work.ts";

/**
 * Both generators send the load at the same time: to one instance, or to one each. Adds the rates, and
 * takes the latencies of the slower one.
 */
export async function measureTogether(
  generators: readonly [Generator, Generator],
  instances: readonly Contestant[],
  work: Work,
  durationMs: number,
): Promise<Measured> {
  const before = instances.map(({ pid }) => readCpu(pid));
  const [one, two] = await Promise.all([
    generators[0].measure(instances[0]!, work, durationMs),
    generators[1].measure(instances.at(-1)!, work, durationMs),
  ]);
  const used = instances.flatMap(
    ({ pid }, index) => cpuMicrosecondsBetween(before[index], readCpu(pid)) ?? [],
  );
  const cpuMicroseconds = used.reduce((sum, one) => sum + one, 0);
  const requests = one.patch.requests + two.patch.requests;
  const slower = one.patch.p99Ms > two.patch.p99Ms ? one : two;
  return {
    ...slower,
    throughput: one.throughput + two.throughput,
    patch: { ...slower.patch, requests },
    cpuMicroseconds: used.length > 0 ? cpuMicroseconds / requests : undefined,
    generatorBusy: one.generatorBusy + two.generatorBusy,
  };
}
