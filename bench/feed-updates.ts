// Updates beside the feed: the throughput of PATCH with and without listeners, in turn, and how late
// the listeners are.
import { type Bench, divide } from "./bench.ts";
import { best } from "./best.ts";
import { median } from "./comparison.ts";
import { startService } from "./contestants.ts";
import { feedEntries as entries, manyStreams } from "./feed-delivery.ts";
import type { FigureName } from "./figures.ts";
import type { Measured } from "./generator.ts";
import { Listeners, readLastSeq } from "./listeners.ts";

const listenersCount = 200;
const catchUpMs = 120_000;
/** A run is long enough for the listeners to fall behind. */
const runs = 2;

export async function measureUpdates(
  bench: Bench,
  engine: string,
  createDatabase: () => Promise<string | undefined>,
  figureOf: Record<64 | 256, FigureName>,
): Promise<void> {
  const { directory, options, generator, results } = bench;
  const database = await createDatabase();
  const start = { directory, entries, env: manyStreams };
  const service = await startService(database === undefined ? start : { ...start, database });
  const listeners = new Listeners();
  const count = options.quick ? 20 : listenersCount;
  const durationMs = options.runMs * runs;

  for (const connections of [64, 256] as const) {
    const work = { kind: "patch", connections, entries } as const;
    const without: Measured[] = [];
    const beside: Measured[] = [];
    const late: { maxMs: number; caughtUpMs: number }[] = [];
    const alone = async () => void without.push(await generator.measure(service, work, durationMs));
    const listened = async () => {
      await listeners.open(service.target, count);
      beside.push(await generator.measure(service, work, durationMs));
      const endedAt = performance.now();
      const last = await readLastSeq(service.target);
      const { delay } = await listeners.awaitRow(last, catchUpMs);
      late.push({ maxMs: delay!.maxMs, caughtUpMs: performance.now() - endedAt });
      await listeners.close();
    };
    await generator.measure(service, work, durationMs / 2);
    for (let round = 0; round < options.repeats; round++) {
      for (const run of round % 2 === 0 ? [alone, listened] : [listened, alone]) await run();
    }
    const scenario = `PATCH, ${connections} connections, ${engine}`;
    results.addRow(scenario, "no listeners", "patch", best(without));
    results.addRow(scenario, `${count} listeners`, "patch", best(beside));
    const ratios = beside.map(({ throughput }, at) => divide(throughput, without[at]!.throughput)!);
    const slowest = (of: (one: (typeof late)[number]) => number) =>
      (Math.max(...late.map(of)) / 1000).toFixed(1);
    results.addNote(
      `${scenario}, ${count} listeners against none: ${ratios.map((ratio) => ratio.toFixed(2)).join(", ")}. ` +
        `Every listener received every row once and in order, up to ${slowest(({ maxMs }) => maxMs)} s late, and had ` +
        `all of them ${slowest(({ caughtUpMs }) => caughtUpMs)} s after the end of a run of ${durationMs / 1000} s.`,
    );
    if (!options.quick) results.addFigure(figureOf[connections], median(ratios));
  }
  await Promise.all([service.stop(), listeners.stop()]);
}
