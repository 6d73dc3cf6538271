// PATCH on PostgreSQL with a large inventory and with a long ledger, compared with a small and new one.
import { type Bench, divide, formatEntries, takeTurns } from "../bench.ts";
import { best } from "../best.ts";
import { median } from "../comparison.ts";
import { type Service, startService, startServiceOn } from "../contestants.ts";
import type { FigureName } from "../figures.ts";
import { fillLedger, ledgerPets, settlePostgres, untilCheckpoints } from "../filled-store.ts";
import type { Measured } from "../generator.ts";
import { type Postgres, startPostgres } from "../postgres.ts";

const connections = 64;
const entriesMax = 1_000_000;
const quickEntries = 20_000;
const quickRows = 200_000;

interface Size {
  readonly name: string;
  readonly service: Service;
  readonly entries: number;
  /** For its throughput against that of the first. */
  readonly figure?: FigureName;
}

export async function postgresGrowth(bench: Bench): Promise<void> {
  const { generator, options } = bench;
  const server = await startPostgres(bench.directory);
  try {
    const sizes = await startSizes(bench, server);
    const turns = sizes.map(({ service, entries }) => {
      const work = { kind: "patch", connections, entries, isRandom: true } as const;
      return (durationMs: number) => generator.measure(service, work, durationMs);
    });
    addResults(bench, sizes, await takeTurns(turns, options.repeats, options.runMs));
    await Promise.all(sizes.map(({ service }) => service.stop()));
  } finally {
    await server.stop();
  }
}

async function startSizes(bench: Bench, server: Postgres): Promise<Size[]> {
  const { options } = bench;
  const entries = options.quick ? quickEntries : entriesMax;
  const rows = options.quick ? quickRows : options.ledgerRows;
  return [
    {
      name: `service, ${formatEntries(ledgerPets)}`,
      entries: ledgerPets,
      service: await startFilled(bench, await server.create("small"), ledgerPets, 0),
    },
    {
      name: `service, ${formatEntries(entries)}`,
      entries,
      service: await startFilled(bench, await server.create("large"), entries, 0),
      figure: "postgresEntries",
    },
    {
      name: `service, ${formatEntries(ledgerPets)}, ${rows.toLocaleString("en-US")} ledger rows`,
      entries: ledgerPets,
      service: await startFilled(bench, await server.create("long"), ledgerPets, rows),
      figure: "postgresLedger",
    },
  ];
}

/** Starts the service on a filled store, and waits until the work that follows is done. */
async function startFilled(
  { directory }: Bench,
  database: string,
  entries: number,
  rows: number,
): Promise<Service> {
  const empty = await startService({ directory, entries, database });
  await empty.stop();
  if (rows > 0) await fillLedger(database, rows);
  const service = await startServiceOn({ directory, entries }, database, empty.target.key);
  await untilCheckpoints(database, rows, entries);
  await settlePostgres(database);
  return service;
}

/** Shows medians too: work that is not done in every run would not show in the best ones. */
function addResults({ results, options }: Bench, sizes: Size[], rounds: Measured[][]): void {
  const first = rounds[0]!;
  const table: Record<string, number | string>[] = [];
  for (const [index, { name, figure }] of sizes.entries()) {
    const runs = rounds[index]!;
    const measured = best(runs);
    results.addRow(`PATCH, PostgreSQL, ${connections} connections`, name, "patch", measured);
    // The stores of a quick run are too small for the figures.
    if (figure && !options.quick) {
      results.addFigure(figure, divide(measured.throughput, best(first).throughput));
    }
    const medians = (of: (run: Measured) => number | undefined) =>
      [
        medianOfKnown(runs.map(of)),
        medianOfKnown(runs.map((run, round) => divide(of(run), of(first[round]!)))),
      ] as const;
    const [rate, rateRatio] = medians(({ throughput }) => throughput);
    const [cpu, cpuRatio] = medians(({ cpuMicroseconds }) => cpuMicroseconds);
    table.push({
      contestant: name,
      "updates/s": rate,
      ratio: rateRatio,
      "CPU µs/update": cpu,
      "ratio of CPU": cpuRatio,
    });
  }
  const title = `PATCH, PostgreSQL, ${connections} connections: medians of ${first.length} rounds`;
  results.tables.push({ title, rows: table });
}

function medianOfKnown(values: (number | undefined)[]): number | "n/a" {
  const known = values.filter((value) => value !== undefined);
  return known.length > 0 ? median(known) : "n/a";
}
