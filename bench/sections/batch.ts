// Batches of 1,000 changes, compared with single updates, with the peer, and with plain SQL.
import { type Bench, compare, divide, type Task } from "../bench.ts";
import { startPeer, startService } from "../contestants.ts";
import type { FigureName } from "../figures.ts";
import { openPlainPostgres, openPlainSqlite, type PlainStore } from "../plain-batches.ts";
import { type Postgres, startPostgres } from "../postgres.ts";

const changes = 1000;
const connections = 8;

export async function batch(bench: Bench): Promise<void> {
  const plain = openPlainSqlite(bench.directory, changes);
  await measureEngine(bench, "SQLite", plain, undefined, "batchFloor", "batchPeer");
  const server = await startPostgres(bench.directory);
  try {
    const onPostgres = await openPlainPostgres(await server.create("plain"), changes);
    const figures = ["batchFloorPostgres", "batchPeerPostgres"] as const;
    await measureEngine(bench, "PostgreSQL", onPostgres, server, ...figures);
  } finally {
    await server.stop();
  }
}

async function measureEngine(
  bench: Bench,
  engine: string,
  plain: PlainStore,
  server: Postgres | undefined,
  floorFigure: FigureName,
  peerFigure: FigureName,
): Promise<void> {
  const { directory, options, results } = bench;
  const startOptions = async (database: string) => ({
    directory,
    entries: changes,
    ...(server && { database: await server.create(database) }),
  });
  const service = await startService(await startOptions("batch"));
  const peers =
    bench.peerProblem === undefined ? [await startPeer(await startOptions("peer"))] : [];
  const batches = { kind: "batch", connections, changes } as const;
  const tasks: Task[] = [service, ...peers].map((contestant) => ({ contestant, work: batches }));
  const single = { kind: "patch", connections: options.writers, entries: changes } as const;
  // The floor runs before and after the others: it has no server that could take turns with them.
  const before = await plainRate(plain, options.runMs * options.repeats);
  const [updates, own, peer] = await compare(bench, [
    { contestant: service, work: single },
    ...tasks,
  ]);
  const after = await plainRate(plain, options.runMs * options.repeats);

  const scenario = `batches of 1,000, ${engine}`;
  results.addRow(scenario, "service", "patch", own!);
  if (peer) results.addRow(scenario, "peer", "patch", peer);
  results.addRow(scenario, "service, single updates", "patch", updates!);
  const rate = own!.throughput * changes;
  const floor = Math.max(before, after);
  const perSecond = (value: number) => Math.round(value).toLocaleString("en-US");
  results.addNote(
    `${engine}, changes per second: ${perSecond(rate)} in batches of 1,000, ` +
      `${perSecond(updates!.throughput)} as single updates, ${perSecond(floor)} in plain SQL` +
      `${peer ? `, ${perSecond(peer.throughput * changes)} by the peer, without a ledger` : ""}.`,
  );
  results.addFigure(floorFigure, divide(rate, floor));
  if (peer) results.addFigure(peerFigure, divide(own!.throughput, peer.throughput));
  await Promise.all([service, ...peers].map((contestant) => contestant.stop()));
  await plain.close();
}

/** Changes per second, in the best of several runs. */
async function plainRate(plain: PlainStore, durationMs: number): Promise<number> {
  const petIds = Array.from({ length: changes }, (_, index) => index + 1);
  const runMs = 200;
  let best = 0;
  let quantity = 0;
  for (const endsAt = performance.now() + durationMs; performance.now() < endsAt; ) {
    const startedAt = performance.now();
    let stored = 0;
    while (performance.now() - startedAt < runMs) {
      await plain.store(petIds, ++quantity);
      stored += changes;
    }
    best = Math.max(best, (stored / (performance.now() - startedAt)) * 1000);
  }
  return best;
}
