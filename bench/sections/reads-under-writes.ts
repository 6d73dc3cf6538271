// Reads during as many writes as possible on a slow disk. A read must not wait for a flush.
import type { Bench } from "../bench.ts";
import { startService } from "../contestants.ts";
import type { Measured } from "../generator.ts";
import { slowFlushEnvironment } from "../slow-flush.ts";
import { checkFlushDelay } from "./patch.ts";

const entries = 1000;
const flushMs = 10;

export async function readsUnderWrites(bench: Bench): Promise<void> {
  if ("problem" in bench.slowFlush) {
    bench.results.addNote(`Reads under writes were not measured: ${bench.slowFlush.problem}`);
    return;
  }
  const { results, generator, options } = bench;
  const service = await startService({
    directory: bench.directory,
    entries,
    env: slowFlushEnvironment(bench.slowFlush.library, flushMs),
  });
  await checkFlushDelay(bench, [service], flushMs);
  const rounds: Measured[] = [];
  for (let round = 0; round <= options.repeats; round++) {
    // Each round writes higher quantities than the one before, so that stale reads are recognized.
    const quantity = 1_000_000 * (round + 1);
    const measured = await generator.measure(
      service,
      { kind: "mixed", writers: options.readers, readers: 4, entries, quantity },
      options.runMs,
    );
    if (round > 0) rounds.push(measured);
  }
  const best = rounds.reduce((one, other) => (other.get.p99Ms < one.get.p99Ms ? other : one));
  const scenario = `reads under writes, flush + ${flushMs} ms`;
  results.addRow(scenario, "service GET", "get", best);
  results.addRow(scenario, "service PATCH", "patch", best);
  results.addFigure("readsUnderWrites", best.get.p99Ms);
  await service.stop();
}
