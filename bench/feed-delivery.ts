// Many listeners of the feed on one instance: what they cost while nothing changes and under a steady
// rate of changes, and how late changes arrive.
import { join } from "node:path";
import type { Bench } from "./bench.ts";
import { type ContestantOptions, type Service, startService } from "./contestants.ts";
import { cpuMicrosecondsBetween, readCpu } from "./cpu.ts";
import type { FigureName } from "./figures.ts";
import type { Measured } from "./generator.ts";
import { Listeners, readLastSeq } from "./listeners.ts";
import type { ListenersReport } from "./listeners-process.ts";
import { probeEnvironment, readProbe } from "./probe-client.ts";
import { memoryOf } from "./processes.ts";

export const feedEntries = 1000;
/** Without this setting a key may open ten streams. */
export const manyStreams = { PETSTORE_STREAMS_PER_KEY: "10000" };
/** Enough to send the changes on time, each in a request of its own. */
const connections = 32;
const catchUpMs = 60_000;

interface Steady {
  listeners: number;
  perSecond: number;
  warmUpMs: number;
  durationMs: number;
  idleMs: number;
}

function steadyLoad({ options }: Bench): Steady {
  const { quick } = options;
  return {
    listeners: quick ? 100 : 2000,
    perSecond: quick ? 200 : 1000,
    warmUpMs: quick ? 500 : 5000,
    durationMs: quick ? 1500 : 20_000,
    idleMs: quick ? 1000 : 10_000,
  };
}

/** `createDatabase` returns the address of a PostgreSQL database, or undefined for SQLite. */
export async function measureDelivery(
  bench: Bench,
  engine: string,
  createDatabase: () => Promise<string | undefined>,
  figure: FigureName,
): Promise<void> {
  const steady = steadyLoad(bench);
  const database = await createDatabase();
  const options = { directory: bench.directory, entries: feedEntries, env: manyStreams };
  const service = await startService(database === undefined ? options : { ...options, database });
  const listeners = new Listeners();
  const what = `${steady.listeners.toLocaleString("en-US")} listeners, ${engine}`;
  const note = (text: string) => bench.results.addNote(`${what}: ${text}`);

  const alone = await underLoad(bench, service, steady);
  const before = residentMb(service);
  const openedAt = performance.now();
  await listeners.open(service.target, steady.listeners);
  note(`opened in ${((performance.now() - openedAt) / 1000).toFixed(1)} s.`);

  const idle = await cpuDuring(service, () => Bun.sleep(steady.idleMs));
  const { heartbeats } = await listeners.report();
  note(
    `idle, the service uses ${percent(idle.share)} of a core; ${heartbeats.toLocaleString("en-US")} ` +
      `heartbeats in ${steady.idleMs / 1000} s.`,
  );
  const open = residentMb(service);
  const sent = await underLoad(bench, service, steady, listeners);
  const peak = residentMb(service);
  await listeners.close();
  await Bun.sleep(steady.warmUpMs);
  note(
    `${before} MB resident before they open, ${open} MB with them, ${peak} MB under load, ` +
      `${residentMb(service)} MB after they have left.`,
  );
  const { report, expected } = sent;
  const { p50Ms, p99Ms, maxMs } = report!.delay!;
  const perEvent = (sent.cpuMicroseconds / report!.events).toFixed(2);
  note(
    `${steady.perSecond.toLocaleString("en-US")} changes a second for ${steady.durationMs / 1000} s, one per request: ` +
      `${report!.events.toLocaleString("en-US")} of ${expected.toLocaleString("en-US")} events delivered, each row once ` +
      `and in order; delay p50 ${p50Ms} ms, p99 ${p99Ms} ms, max ${maxMs} ms. The service uses ` +
      `${percent(sent.share)} of a core (${percent(alone.share)} without listeners), ${perEvent} µs per event ` +
      `delivered, updates included; the listeners use ${percent(report!.busy)}.`,
  );
  if (report!.events !== expected) throw new Error("Events are missing.");
  const scenario = `PATCH, ${steady.perSecond} a second, ${engine}`;
  bench.results.addRow(scenario, "no listeners", "patch", alone.patches);
  bench.results.addRow(scenario, `${steady.listeners} listeners`, "patch", sent.patches);
  if (!bench.options.quick) bench.results.addFigure(figure, p99Ms / 1000);
  await Promise.all([service.stop(), listeners.stop()]);
}

interface Loaded {
  patches: Measured;
  cpuMicroseconds: number;
  share: number;
  /** What the listeners received, and the number of events that they should have received. */
  report: ListenersReport | undefined;
  expected: number;
}

async function underLoad(
  { generator }: Bench,
  service: Service,
  { perSecond, warmUpMs, durationMs, listeners: count }: Steady,
  listeners?: Listeners,
): Promise<Loaded> {
  const work = { kind: "patch", connections, entries: feedEntries, perSecond } as const;
  await generator.measure(service, work, warmUpMs);
  const first = await readLastSeq(service.target);
  await listeners?.awaitRow(first, catchUpMs);
  let patches: Measured | undefined;
  let report: ListenersReport | undefined;
  let last = first;
  const { cpuMicroseconds, share } = await cpuDuring(service, async () => {
    patches = await generator.measure(service, work, durationMs);
    last = await readLastSeq(service.target);
    report = await listeners?.awaitRow(last, catchUpMs);
  });
  return { patches: patches!, cpuMicroseconds, share, report, expected: (last - first) * count };
}

async function cpuDuring(service: Service, work: () => Promise<unknown>) {
  const before = readCpu(service.pid);
  const startedAt = performance.now();
  await work();
  const wallMicroseconds = (performance.now() - startedAt) * 1000;
  const cpuMicroseconds = cpuMicrosecondsBetween(before, readCpu(service.pid)) ?? Number.NaN;
  return { cpuMicroseconds, share: cpuMicroseconds / wallMicroseconds };
}

/** The longest turn of the event loop under the steady load, and under as many updates as possible. */
export async function measureFeedTurns(bench: Bench): Promise<void> {
  const { directory, generator, options, results } = bench;
  const steady = steadyLoad(bench);
  const probeFile = join(directory, "feed-probe.json");
  const env = { ...manyStreams, ...probeEnvironment(probeFile) };
  const start: ContestantOptions = { directory, entries: feedEntries, env };
  const service = await startService(start);
  const listeners = new Listeners();
  const phases: Record<string, number> = {};
  const probe = async (phase: string) => {
    const { turnMs } = await readProbe(service.pid, probeFile);
    phases[phase] = turnMs;
    results.addNote(
      `Event loop, ${steady.listeners.toLocaleString("en-US")} listeners, ${phase}: longest turn ${turnMs.toFixed(0)} ms.`,
    );
  };
  await readProbe(service.pid, probeFile);
  await listeners.open(service.target, steady.listeners);
  await probe("while they open");
  const patch = { kind: "patch", connections, entries: feedEntries } as const;
  await generator.measure(service, { ...patch, perSecond: steady.perSecond }, steady.warmUpMs);
  await probe(`${steady.perSecond} changes a second`);
  await generator.measure(service, { ...patch, connections: options.writers }, options.runMs);
  await listeners.awaitRow(await readLastSeq(service.target), catchUpMs);
  await probe("as many changes as possible");
  await listeners.close();
  await probe("while they leave");
  if (!options.quick) results.addFigure("feedTurn", Math.max(...Object.values(phases)));
  await Promise.all([service.stop(), listeners.stop()]);
}

function residentMb(service: Service): string {
  return memoryOf(service.pid)?.residentMb.toFixed(0) ?? "n/a";
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}
