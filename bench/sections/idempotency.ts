// The cost of an idempotency key, and of remembering many: PATCH with and without a key, with no
// remembered keys and with 10 million, on both engines.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, divide } from "../bench.ts";
import { best } from "../best.ts";
import { median } from "../comparison.ts";
import { type Service, startService, startServiceOn } from "../contestants.ts";
import type { FigureName } from "../figures.ts";
import {
  fillKeys,
  fillLedger,
  ledgerPets,
  oldestKeys,
  pathOf,
  untilCheckpoints,
} from "../filled-store.ts";
import type { Measured } from "../generator.ts";
import { type Postgres, startPostgres } from "../postgres.ts";
import { memoryOf } from "../processes.ts";
import { authorization } from "../start-server.ts";

const dayMs = 86_400_000;
const quickKeys = 200_000;

export async function idempotency(bench: Bench): Promise<void> {
  await measureEngine(bench, undefined);
  const server = await startPostgres(bench.directory);
  try {
    await measureEngine(bench, server);
  } finally {
    await server.stop();
  }
}

interface Stores {
  readonly key: string;
  /** A long ledger without keys. */
  readonly empty: string;
  /** The same ledger, with keys for its rows. */
  readonly full: string;
}

async function measureEngine(bench: Bench, server: Postgres | undefined): Promise<void> {
  const { directory, options } = bench;
  const keys = options.quick ? quickKeys : options.rememberedKeys;
  const engine = server ? "PostgreSQL" : "SQLite";
  const stores = await prepare(bench, server, keys);
  const startOn = (database: string, name: string, env?: Record<string, string>) =>
    startServiceOn(
      { directory, entries: ledgerPets, name, ...(env && { env }) },
      database,
      stores.key,
    );
  const empty = await startOn(stores.empty, "no keys");
  const full = await startOn(stores.full, "many keys");
  const first = await timeOf(() => expectReplay(full, "first", false));
  const memory = (service: Service) => memoryOf(service.pid)?.residentMb ?? Number.NaN;
  bench.results.addNote(
    `${engine}, ${keys.toLocaleString("en-US")} remembered keys: ready after ` +
      `${(full.startMs / 1000).toFixed(2)} s; the first PATCH with a key then took ` +
      `${(first.ms / 1000).toFixed(2)} s, until all keys were in memory, and was refused with a ` +
      `503 ${first.refused} times meanwhile. ` +
      `${memory(full).toFixed(0)} MB resident, ${memory(empty).toFixed(0)} MB without keys.`,
  );
  await comparePatches(bench, engine, empty, full);
  await timeOf(() => expectReplay(full, "first", true));
  await Promise.all([empty.stop(), full.stop()]);

  const pruning = await startOn(stores.full, "pruning", { PETSTORE_IDEMPOTENCY_DAYS: "1" });
  await timeOf(() => expectReplay(pruning, "first", true));
  await measurePruning(bench, engine, pruning, ledgerPets + keys);
  await timeOf(() => expectReplay(pruning, "first", true));
  await pruning.stop();
}

/** Makes two stores that differ only in the remembered keys, which are three days old. */
async function prepare(
  { directory }: Bench,
  server: Postgres | undefined,
  keys: number,
): Promise<Stores> {
  const created = server && { database: await server.create("no_keys") };
  const service = await startService({ directory, entries: ledgerPets, ...created });
  await service.stop();
  const { database: empty, target } = service;
  await fillLedger(empty, keys);
  const filled = await startServiceOn({ directory, entries: ledgerPets }, empty, target.key);
  await untilCheckpoints(empty, keys);
  await filled.stop();
  let full: string;
  if (server) full = await server.create("many_keys", "no_keys");
  else {
    full = `sqlite:${join(directory, "many-keys.db")}`;
    copyFileSync(pathOf(empty), pathOf(full));
  }
  await fillKeys(full, keys, Date.now() - 3 * dayMs);
  return { key: target.key, empty, full };
}

/**
 * Sends one PATCH with this idempotency key. It must be answered as the first one, or replayed.
 * Returns false if it got a 503: the keys may not be in memory yet.
 */
async function expectReplay({ target }: Service, key: string, isReplay: boolean): Promise<boolean> {
  const response = await fetch(`http://${target.host}:${target.port}/v1/inventory/7`, {
    method: "PATCH",
    headers: {
      ...authorization(target),
      "content-type": "application/json",
      "idempotency-key": `"${key}"`,
    },
    body: '{"quantity":4321}',
  });
  const body = await response.text();
  if (response.status === 503) return false;
  const isExpected =
    response.status === 200 &&
    body.includes('"quantity":4321') &&
    (response.headers.get("idempotent-replayed") === "true") === isReplay;
  if (!isExpected) throw new Error(`A PATCH with a key returned ${response.status}: ${body}`);
  return true;
}

/** Repeats the work until it succeeds. */
async function timeOf(work: () => Promise<boolean>): Promise<{ ms: number; refused: number }> {
  const startedAt = performance.now();
  let refused = 0;
  while (!(await work())) refused += 1;
  return { ms: performance.now() - startedAt, refused };
}

/** Measures the four cases in turn, and compares each with the first, round by round. */
async function comparePatches(
  { generator, options, results }: Bench,
  engine: string,
  empty: Service,
  full: Service,
): Promise<void> {
  const figuresOf = (postgres: FigureName, sqlite: FigureName) =>
    engine === "SQLite" ? sqlite : postgres;
  const cases = [
    { name: "no keys, without a key", service: empty, sendsKeys: false, figure: undefined },
    {
      name: "many keys, without a key",
      service: full,
      sendsKeys: false,
      figure: figuresOf("keysRememberedPostgres", "keysRemembered"),
    },
    { name: "no keys, with a key", service: empty, sendsKeys: true, figure: undefined },
    {
      name: "many keys, with a key",
      service: full,
      sendsKeys: true,
      figure: figuresOf("keysSentPostgres", "keysSent"),
    },
  ];
  const rounds: Measured[][] = [];
  const runsMs = [options.runMs / 2, ...Array<number>(options.repeats).fill(options.runMs)];
  for (const [round, durationMs] of runsMs.entries()) {
    const runs: Measured[] = [];
    // Each round starts with another case.
    for (let nth = 0; nth < cases.length; nth++) {
      const index = (nth + round) % cases.length;
      const { service, sendsKeys } = cases[index]!;
      const connections = options.writers;
      const load = { connections, entries: ledgerPets, sendsKeys, isComparedWithOthers: true };
      const work = { kind: "patch", ...load } as const;
      runs[index] = await generator.measure(service, work, durationMs);
    }
    // The first round is the warm-up.
    if (round > 0) rounds.push(runs);
  }
  for (const [index, { name, figure }] of cases.entries()) {
    const scenario = `PATCH and idempotency keys, ${engine}`;
    results.addRow(scenario, name, "patch", best(rounds.map((runs) => runs[index]!)));
    if (!figure || options.quick) continue;
    const ratios = rounds.flatMap(
      (runs) => divide(runs[index]!.cpuMicroseconds, runs[0]!.cpuMicroseconds) ?? [],
    );
    if (ratios.length > 0) results.addFigure(figure, median(ratios));
  }
}

const sliceMs = 1_000;
const pruneStartMsMax = 30_000;

/** The latency of PATCH while all filled keys are deleted, compared with the seconds before. */
async function measurePruning(
  { generator, options, results }: Bench,
  engine: string,
  service: Service,
  lastSeq: number,
): Promise<void> {
  const { writers: connections } = options;
  const work = { kind: "patch", connections, entries: ledgerPets, sendsKeys: true } as const;
  const first = await oldestKeys(service.database);
  const before: Measured[] = [];
  const during: Measured[] = [];
  const startedAt = performance.now();
  for (;;) {
    const run = await generator.measure(service, work, sliceMs);
    const oldest = await oldestKeys(service.database);
    if (oldest === first) before.push(run);
    else during.push(run);
    if (oldest === undefined || oldest > lastSeq) break;
    if (oldest === first && performance.now() - startedAt > pruneStartMsMax) {
      throw new Error("Expired idempotency keys are not deleted.");
    }
  }
  const scenario = `PATCH while keys are deleted, ${engine}`;
  const median = (runs: Measured[]) =>
    runs.toSorted((one, other) => one.patch.p99Ms - other.patch.p99Ms)[runs.length >> 1]!;
  const worst = during.reduce((one, other) => (other.patch.p99Ms > one.patch.p99Ms ? other : one));
  results.addRow(scenario, "before, median second", "patch", median(before));
  results.addRow(scenario, "meanwhile, median second", "patch", median(during));
  results.addRow(scenario, "meanwhile, worst second", "patch", worst);
  results.addNote(`${engine}: deleting all remembered keys took about ${during.length} s.`);
}
