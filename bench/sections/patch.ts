// Durable PATCH compared with the peer: on this disk, and with every flush delayed.
import { type Bench, compare, divide, formatEntries, type Task } from "../bench.ts";
import { startPeer, startService } from "../contestants.ts";
import type { FigureName } from "../figures.ts";
import type { Measured } from "../generator.ts";
import { slowFlushEnvironment } from "../slow-flush.ts";
import type { Contestant } from "../start-server.ts";

/** In the order of the figures. */
const sizes = [
  [20, "patchPeer20"],
  [1000, "patchPeer1000"],
  [10_000, "patchPeer10000"],
] as const;

export async function patch(bench: Bench): Promise<void> {
  for (const [entries, figure] of sizes) {
    await compareWithPeer(bench, `PATCH, ${formatEntries(entries)}, this disk`, figure, entries);
  }
}

export async function slowFlush(bench: Bench): Promise<void> {
  if ("problem" in bench.slowFlush) {
    bench.results.addNote(`Slow flushes were not measured: ${bench.slowFlush.problem}`);
    return;
  }
  const env = slowFlushEnvironment(bench.slowFlush.library, 2);
  await compareWithPeer(bench, "PATCH, flush + 2 ms", "patchPeerSlow", 1000, env);
}

async function compareWithPeer(
  bench: Bench,
  scenario: string,
  figure: FigureName,
  entries: number,
  env?: Record<string, string>,
): Promise<void> {
  const { results, directory, options } = bench;
  const startOptions = { directory, entries, ...(env === undefined ? {} : { env }) };
  const contestants: Contestant[] = [await startService(startOptions)];
  if (bench.peerProblem === undefined) contestants.push(await startPeer(startOptions));
  if (env !== undefined) await checkFlushDelay(bench, contestants, 2);

  const tasks = contestants.map(
    (contestant): Task => ({
      contestant,
      work: { kind: "patch", connections: options.writers, entries },
    }),
  );
  const measured = await compare(bench, tasks);
  for (const [index, { name }] of contestants.entries()) {
    results.addRow(scenario, name, "patch", measured[index]!);
  }
  const [service, peer] = measured as [Measured, Measured | undefined];
  if (peer) results.addFigure(figure, divide(service.throughput, peer.throughput));
  await Promise.all(contestants.map((contestant) => contestant.stop()));
}

/** Throws if a single writer does not wait for the delayed flush: the delay or the flush is missing. */
export async function checkFlushDelay(
  bench: Bench,
  contestants: Contestant[],
  delayMs: number,
): Promise<void> {
  for (const contestant of contestants) {
    const single = await bench.generator.measure(
      contestant,
      { kind: "patch", connections: 1, entries: 1000 },
      200,
    );
    if (single.patch.p50Ms < delayMs) {
      throw new Error(
        `${contestant.name} responded to a PATCH in ${single.patch.p50Ms.toFixed(2)} ms, but each flush is delayed by ${delayMs} ms.`,
      );
    }
  }
}
