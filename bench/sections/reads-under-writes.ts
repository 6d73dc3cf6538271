// Reads beside saturating writes on a slow disk: a read must not wait for a flush, nor be stale.
import type { Bench } from "../bench.ts";
import { startService } from "../contestants.ts";
import { slowed } from "../slow-flush.ts";
import { checkSlow } from "./patch.ts";

const entries = 1000;
const flushMs = 10;

export async function readsUnderWrites(bench: Bench): Promise<void> {
  if ("problem" in bench.slowFlush) {
    bench.book.note(`Reads under writes were skipped: ${bench.slowFlush.problem}`);
    return;
  }
  const { book, generator, options } = bench;
  const service = await startService({
    directory: bench.directory,
    entries,
    env: slowed(bench.slowFlush.library, flushMs),
  });
  await checkSlow(bench, [service], flushMs);
  let p99Ms = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= options.repeats; round++) {
    const measured = await generator.measure(
      service,
      {
        kind: "mixed",
        writers: options.readers,
        readers: 4,
        entries,
        // Each round writes higher numbers than any before, so that stale reads still show.
        quantity: 1_000_000 * (round + 1),
      },
      options.runMs,
    );
    if (round === 0) continue;
    book.row(`reads under writes, flush + ${flushMs} ms`, "service GET", "get", measured);
    book.row(`reads under writes, flush + ${flushMs} ms`, "service PATCH", "patch", measured);
    p99Ms = Math.min(p99Ms, measured.get.p99Ms);
  }
  book.figure("readsUnderWrites", p99Ms);
  await service.stop();
}
