// Pages of a long ledger, compared with the same query in the engine with an index for it.
import { Database } from "bun:sqlite";
import { type Bench, compare, divide } from "../bench.ts";
import { startService, startServiceOn } from "../contestants.ts";
import type { FigureName } from "../figures.ts";
import { fillLedger, ledgerPets, pathOf, untilCheckpoints } from "../filled-store.ts";
import { type Postgres, startPostgres } from "../postgres.ts";

const quickRows = 200_000;

export async function history(bench: Bench): Promise<void> {
  await measureEngine(bench, undefined, "historyFloor");
  const server = await startPostgres(bench.directory);
  try {
    await measureEngine(bench, server, "historyFloorPostgres");
  } finally {
    await server.stop();
  }
}

interface Page {
  readonly title: string;
  readonly path: string;
  readonly rows: number;
  /** The same page by the index on (pet_id, seq), or by the primary key. */
  readonly query: string;
}

/** Pet 1 has every tenth row of the ledger. */
function pagesOf(rows: number): Page[] {
  const middle = ledgerPets + 1 + Math.floor(rows / 20) * 10;
  const from = "SELECT ledger.*, keys.name FROM ledger LEFT JOIN keys ON keys.id = ledger.key_id";
  const pageSizes = [100, 1000];
  return pageSizes.flatMap((limit) => [
    {
      title: `history, first page of ${limit}`,
      path: `/v1/inventory/1/history?limit=${limit}`,
      rows: limit,
      query: `${from} WHERE pet_id = 1 ORDER BY seq DESC LIMIT ${limit}`,
    },
    {
      title: `history, page of ${limit} in the middle`,
      path: `/v1/inventory/1/history?before=${middle}&limit=${limit}`,
      rows: limit,
      query: `${from} WHERE pet_id = 1 AND seq < ${middle} ORDER BY seq DESC LIMIT ${limit}`,
    },
    {
      title: `changes, page of ${limit} in the middle`,
      path: `/v1/changes?after=${middle}&limit=${limit}`,
      rows: limit,
      query: `${from} WHERE seq > ${middle} ORDER BY seq LIMIT ${limit}`,
    },
  ]);
}

async function measureEngine(
  bench: Bench,
  server: Postgres | undefined,
  figure: FigureName,
): Promise<void> {
  const { directory, options, results } = bench;
  const rows = options.quick ? quickRows : options.ledgerRows;
  const engine = server ? "PostgreSQL" : "SQLite";
  const startOptions = { directory, entries: ledgerPets };
  const created = server && { database: await server.create("history") };
  const filled = await startService({ ...startOptions, ...created });
  await filled.stop();
  await fillLedger(filled.database, rows);
  const service = await startServiceOn(startOptions, filled.database, filled.target.key);
  await untilCheckpoints(filled.database, rows);
  const pages = pagesOf(rows);
  const measured = await compare(
    bench,
    pages.map(({ path, rows }) => ({
      contestant: service,
      work: { kind: "page", connections: 1, path, rows },
    })),
  );
  const searchMs = await timeOf(service.target, rows);
  await service.stop();

  const queries = await openQueries(filled.database);
  for (const [index, { title, query, rows: limit }] of pages.entries()) {
    const floorMs = await bestMs(() => queries.run(query), limit, options.runMs * 2);
    const scenario = `${title}, ${engine}`;
    results.addRow(scenario, "service", "get", measured[index]!);
    results.addTime(scenario, "plain SQL with an index", floorMs);
    if (index === 0 && !options.quick) {
      results.addFigure(figure, divide(measured[0]!.get.p50Ms, floorMs));
    }
  }
  await queries.close();
  results.addNote(
    `${engine}: a page that starts in the middle of ${(rows / 10).toLocaleString("en-US")} rows of a ` +
      `pet, at a seq of another pet, took ${searchMs.toFixed(0)} ms.`,
  );
}

/** A client that follows the pages never sends such a request: the search follows every reference. */
async function timeOf(
  { host, port, key }: { host: string; port: number; key: string },
  rows: number,
): Promise<number> {
  const before = ledgerPets + 3 + Math.floor(rows / 20) * 10;
  const url = `http://${host}:${port}/v1/inventory/1/history?before=${before}&limit=100`;
  const startedAt = performance.now();
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`A search returned status ${response.status}.`);
  return performance.now() - startedAt;
}

interface Queries {
  run(query: string): Promise<number>;
  close(): Promise<void>;
}

const addIndex = "CREATE INDEX ledger_pet_seq ON ledger (pet_id, seq)";

async function openQueries(address: string): Promise<Queries> {
  if (address.startsWith("postgres")) {
    const sql = new Bun.SQL(address, { max: 1, bigint: true });
    await sql.unsafe(addIndex);
    return {
      run: async (query) => (await sql.unsafe(query).values()).length,
      close: () => sql.close(),
    };
  }
  const database = new Database(pathOf(address), { safeIntegers: true });
  database.run(addIndex);
  return {
    run: async (query) => database.query(query).values().length,
    close: async () => database.close(),
  };
}

/** The shortest time of a query that returns this number of rows. */
async function bestMs(
  run: () => Promise<number>,
  rows: number,
  durationMs: number,
): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (const endsAt = performance.now() + durationMs; performance.now() < endsAt; ) {
    const startedAt = performance.now();
    const found = await run();
    best = Math.min(best, performance.now() - startedAt);
    if (found !== rows) throw new Error(`A query returned ${found} rows, not ${rows}.`);
  }
  return best;
}
