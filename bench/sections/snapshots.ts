// The inventory of the past and differences, with a long ledger, compared with the engine's own
// query over the ledger.
import { join } from "node:path";
import { type Bench, formatEntries } from "../bench.ts";
import { type Service, startService, startServiceOn } from "../contestants.ts";
import { cpuMicrosecondsBetween, readCpu } from "../cpu.ts";
import type { FigureName } from "../figures.ts";
import { type Folded, type LedgerDatabase, openLedgerDatabase } from "../long-ledger.ts";
import { startPostgres } from "../postgres.ts";
import { probeEnvironment, readProbe } from "../probe-client.ts";

export async function snapshots(bench: Bench): Promise<void> {
  await snapshotsOn(bench, "SQLite", undefined, "snapshotSqlite");
  const server = await startPostgres(bench.directory);
  try {
    await snapshotsOn(bench, "PostgreSQL", await server.create("snapshots"), "snapshotPostgres");
  } finally {
    await server.stop();
  }
}

type Check = (body: string, path: string) => void;

interface Sizes {
  readonly entries: number;
  readonly rows: number;
}

async function snapshotsOn(
  bench: Bench,
  engine: string,
  database: string | undefined,
  figure: FigureName,
): Promise<void> {
  const { results, directory, options } = bench;
  const { entries, rows }: Sizes = options.quick
    ? { entries: 20_000, rows: 200_000 }
    : { entries: 1_000_000, rows: options.ledgerRows };
  const startOptions = { directory, entries, ...(database ? { database } : {}) };
  const filled = await startService(startOptions);
  await filled.stop();
  const ledger = openLedgerDatabase(filled.database);
  await ledger.fill(rows, entries);
  const probeFile = join(directory, `probe-${engine}.json`);
  const env = probeEnvironment(probeFile);
  const service = await startServiceOn(
    { ...startOptions, env },
    filled.database,
    filled.target.key,
  );
  await readProbe(service.pid, probeFile);
  const where = `${formatEntries(entries)}, ${rows.toLocaleString("en-US")} ledger rows, ${engine}`;

  const { seqs, seconds } = await untilCheckpoints(ledger, rows, entries);
  const { bytes } = await ledger.checkpoints();
  const adding = await readProbe(service.pid, probeFile);
  results.addNote(
    `${where}: ${seqs.length} checkpoints added in ${seconds.toFixed(0)} s, ` +
      `${(bytes / 1e6).toFixed(0)} MB in all; longest turn ${adding.turnMs.toFixed(0)} ms.`,
  );

  const randomSeq = () => entries + Math.floor(Math.random() * (rows - entries));
  // In the middle between two checkpoints, most rows have to be applied.
  const middle = (at: number) => (seqs.at(at)! + seqs.at(at - 1)!) >> 1;
  const worst = middle(-1);
  const folded = await ledger.fold(worst);
  const cases: [name: string, path: () => string, check: Check][] = [
    ["snapshot, random moment", () => `/v1/snapshots/${randomSeq()}`, checkOrder],
    ["snapshot, worst moment", () => `/v1/snapshots/${worst}`, checkSnapshot(folded)],
    ["diff, near moments", () => near(randomSeq()), checkOrder],
    [
      "diff, far moments",
      () => `/v1/snapshots/${worst}/diff?to=${middle(seqs.length >> 1)}`,
      checkOrder,
    ],
  ];
  const medians: number[] = [];
  for (const [name, ...one] of cases) {
    const { times, cpu } = await measure(service, options.repeats, ...one);
    medians.push(times[times.length >> 1]!);
    addRow(bench, `${name}, ${where}`, "service", times, cpu);
  }
  const probed = await readProbe(service.pid, probeFile);
  results.addNote(
    `${where}: longest turn ${probed.turnMs.toFixed(0)} ms during snapshots and diffs, ` +
      `${probed.peakMb.toFixed(0)} MB at the peak.`,
  );
  if (!options.quick) results.addFigure(figure, Math.max(...medians) / 1000);
  addRow(bench, `snapshot, worst moment, ${where}`, "query in the engine", [folded.ms]);
  await ledger.close();
  await service.stop();
}

/** The times of some requests, ascending, and the processor time of each. */
async function measure(
  service: Awaited<ReturnType<typeof startServiceOn>>,
  repeats: number,
  pathOf: () => string,
  check: Check,
) {
  const times: number[] = [];
  const before = readCpu(service.pid);
  for (let round = 0; round <= repeats; round++) {
    const path = pathOf();
    const { ms, body } = await read(service, path);
    if (round === 0) check(body, path);
    else times.push(ms);
  }
  times.sort((one, other) => one - other);
  const cpu = cpuMicrosecondsBetween(before, readCpu(service.pid));
  // The first round is checked, not timed, but costs as much.
  return { times, cpu: cpu && cpu / (repeats + 1) };
}

function near(seq: number): string {
  return `/v1/snapshots/${seq - 1_000}/diff?to=${seq}`;
}

/** Waits until the service has added every checkpoint that is due. */
async function untilCheckpoints(
  ledger: LedgerDatabase,
  rows: number,
  entries: number,
): Promise<{ seqs: number[]; seconds: number }> {
  const startedAt = performance.now();
  for (;;) {
    const { seqs } = await ledger.checkpoints();
    if (rows - (seqs.at(-1) ?? 0) < Math.max(50_000, entries / 2)) {
      return { seqs, seconds: (performance.now() - startedAt) / 1000 };
    }
    await Bun.sleep(250);
  }
}

async function read({ target }: Service, path: string): Promise<{ ms: number; body: string }> {
  const headers = { authorization: `Bearer ${target.key}`, "accept-encoding": "identity" };
  const startedAt = performance.now();
  const response = await fetch(`http://${target.host}:${target.port}${path}`, { headers });
  if (response.status !== 200) throw new Error(`GET ${path} returned status ${response.status}.`);
  const bytes = await response.arrayBuffer();
  return { ms: performance.now() - startedAt, body: Buffer.from(bytes).toString("latin1") };
}

/** Throws unless the items are in order. */
function checkOrder(body: string, path: string): void {
  const list = JSON.parse(body) as { petId: number }[];
  const isAscending = list.every(({ petId }, at) => at === 0 || petId > list[at - 1]!.petId);
  if (!isAscending || list.length === 0) throw new Error(`${path} is empty or not in order.`);
}

/** Throws unless the snapshot has as many entries and as much stock as the engine found. */
function checkSnapshot({ entries, total }: Folded) {
  return (body: string, path: string): void => {
    checkOrder(body, path);
    const list = JSON.parse(body) as { quantity: number }[];
    const sum = list.reduce((all, { quantity }) => all + quantity, 0);
    if (list.length !== entries || sum !== total) {
      throw new Error(`${path} has ${list.length} entries and a stock of ${sum}, not ${total}.`);
    }
  };
}

function addRow(
  { results }: Bench,
  scenario: string,
  contestant: string,
  times: number[],
  cpuMicroseconds?: number,
): void {
  const [p50Ms, p99Ms] = [times[times.length >> 1]!, times.at(-1)!];
  const measured = { throughput: 1000 / p50Ms, p50Ms, p99Ms, cpuMicroseconds };
  results.rows.push({ scenario, contestant, ...measured, generatorBusy: undefined });
}
