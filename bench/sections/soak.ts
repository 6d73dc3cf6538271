// Records the memory of the service under a mixed load over minutes.
import type { Bench } from "../bench.ts";
import { startService } from "../contestants.ts";
import { memoryOf } from "../processes.ts";
import type { Contestant } from "../start-server.ts";

const entries = 1000;
const sliceMs = 5000;

export async function soak(bench: Bench): Promise<void> {
  const { results, directory, options } = bench;
  const service = await startService({ directory, entries });
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  let responses = 0;
  sampleMemory(bench, service, 0);
  for (let slice = 1; elapsedMs() < options.soakMs; slice++) {
    const measured = await bench.generator.measure(
      service,
      {
        kind: "mixed",
        writers: options.readers,
        readers: 8,
        entries,
        quantity: slice * 10_000_000,
      },
      Math.min(sliceMs, Math.max(500, options.soakMs - elapsedMs())),
    );
    responses += measured.get.requests + measured.patch.requests;
    if (slice === 1) results.addRow("soak, first slice", "service PATCH", "patch", measured);
    if (slice === 1) results.addRow("soak, first slice", "service GET", "get", measured);
    sampleMemory(bench, service, elapsedMs() / 1000);
  }
  const curve = results.memory.map(({ residentMb }) => residentMb);
  const settled = curve.slice(Math.ceil(curve.length / 5));
  results.addNote(
    `Mixed load for ${(elapsedMs() / 60_000).toFixed(1)} minutes, ${responses.toLocaleString("en-US")} correct responses: ` +
      `${curve[0]?.toFixed(0)} MB at the start; after the first fifth between ` +
      `${Math.min(...settled).toFixed(0)} and ${Math.max(...settled).toFixed(0)} MB, ${curve.at(-1)?.toFixed(0)} MB at the end.`,
  );
  await service.stop();
}

function sampleMemory(bench: Bench, service: Contestant, seconds: number): void {
  const memory = memoryOf(service.pid);
  if (memory === undefined) return;
  bench.results.memory.push({ seconds, residentMb: memory.residentMb });
  console.error(`  soak: ${seconds.toFixed(0)} s  ${memory.residentMb.toFixed(0)} MB`);
}
