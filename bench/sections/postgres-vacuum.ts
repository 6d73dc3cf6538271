// Minutes of PATCH on PostgreSQL with autovacuum as it is by default: whether dead row versions are
// removed as fast as they are made, and whether the rate declines.
import type { Bench } from "../bench.ts";
import { startService } from "../contestants.ts";
import { startPostgres } from "../postgres.ts";
import type { Results } from "../results.ts";

const entries = 1000;
const connections = 64;
const sliceMs = 15_000;
const quickSliceMs = 1_000;

/** The tables with rows that are updated in place, as often as once per transaction. */
const tables = ["store", "ledger_end", "inventory", "counts"];

/** One table after a slice. The counters are those since its creation. */
interface Sample {
  readonly table: string;
  readonly live: number;
  readonly dead: number;
  readonly updates: number;
  readonly hotUpdates: number;
  readonly autovacuums: number;
  readonly kilobytes: number;
  readonly indexKilobytes: number;
}

const readTables = `SELECT relname AS "table", n_live_tup::float8 AS live, n_dead_tup::float8 AS dead,
    n_tup_upd::float8 AS updates, n_tup_hot_upd::float8 AS "hotUpdates",
    autovacuum_count::float8 AS autovacuums, pg_relation_size(relid)::float8 / 1024 AS kilobytes,
    pg_indexes_size(relid)::float8 / 1024 AS "indexKilobytes"
  FROM pg_stat_user_tables WHERE relname IN (${tables.map((table) => `'${table}'`).join()})`;

interface Slice {
  readonly seconds: number;
  readonly updatesPerSecond: number;
  readonly p99Ms: number;
  readonly samples: readonly Sample[];
}

export async function postgresVacuum(bench: Bench): Promise<void> {
  const { results, directory, generator, options } = bench;
  const server = await startPostgres(directory);
  try {
    const database = await server.create("service");
    const service = await startService({ directory, entries, database });
    const sql = new Bun.SQL(database, { max: 1 });
    const work = { kind: "patch", connections, entries } as const;
    const durationMs = options.quick ? quickSliceMs : sliceMs;
    const count = options.quick ? 2 : Math.ceil(options.vacuumMs / sliceMs);
    const slices: Slice[] = [];
    for (let n = 1; n <= count; n++) {
      const { throughput, patch } = await generator.measure(service, work, durationMs);
      const samples = (await sql.unsafe(readTables)) as Sample[];
      const seconds = (n * durationMs) / 1000;
      slices.push({ seconds, updatesPerSecond: throughput, p99Ms: patch.p99Ms, samples });
      console.error(`  ${seconds} s: ${Math.round(throughput)} updates/s`);
    }
    addTables(results, slices);
    await sql.close();
    await service.stop();
  } finally {
    await server.stop();
  }
}

/** Adds one table for the load, and one for each table of the database. */
function addTables(results: Results, slices: readonly Slice[]): void {
  const load = `PATCH, PostgreSQL, ${connections} connections`;
  results.tables.push({
    title: `${load}, without a pause`,
    rows: slices.map(({ seconds, updatesPerSecond, p99Ms }) => ({
      seconds,
      "updates/s": updatesPerSecond,
      "p99 ms": p99Ms,
    })),
  });
  for (const table of tables) {
    const samples = slices.map((slice) => {
      const sample = slice.samples.find((one) => one.table === table);
      if (sample === undefined) throw new Error(`The database has no table ${table}.`);
      return { seconds: slice.seconds, ...sample };
    });
    const rows = samples.map((sample) => ({
      seconds: sample.seconds,
      "live rows": sample.live,
      "dead rows": sample.dead,
      updates: sample.updates,
      "HOT share": hotShare(sample),
      autovacuums: sample.autovacuums,
      "table KB": sample.kilobytes,
      "indexes KB": sample.indexKilobytes,
    }));
    results.tables.push({ title: `${load}: table ${table}`, rows });
    results.addNote(summaryOf(samples));
  }
}

function summaryOf(samples: readonly Sample[]): string {
  const last = samples.at(-1)!;
  const format = (count: number) => count.toLocaleString("en-US", { maximumFractionDigits: 0 });
  const deadMax = Math.max(...samples.map(({ dead }) => dead));
  return (
    `Table ${last.table}: ${format(last.updates)} updates, ${format(hotShare(last) * 100)} % HOT; ` +
    `${format(deadMax)} dead rows at most, ${format(last.dead)} at the end; ` +
    `${last.autovacuums} autovacuums; ${format(last.kilobytes)} KB, indexes ` +
    `${format(last.indexKilobytes)} KB.`
  );
}

/** HOT updates add no entry to an index, and are cleaned up without a vacuum. */
function hotShare({ updates, hotUpdates }: Sample): number {
  return updates > 0 ? hotUpdates / updates : 0;
}
