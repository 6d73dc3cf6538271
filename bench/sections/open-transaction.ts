// PATCH on PostgreSQL while another client keeps a transaction open, for example a long dump. The
// server cannot remove old row versions meanwhile, so rows that are updated in place take longer to
// find with every update.
import type { Bench } from "../bench.ts";
import { startService } from "../contestants.ts";
import { startPostgres } from "../postgres.ts";

const entries = 1000;
const sliceMs = 30_000;
const quickSliceMs = 1_000;

export async function openTransaction(bench: Bench): Promise<void> {
  const { results, directory, generator, options } = bench;
  const server = await startPostgres(directory);
  try {
    const database = await server.create("service");
    const service = await startService({ directory, entries, database });
    const work = { kind: "patch", connections: options.writers, entries } as const;
    const measure = async (moment: string, durationMs: number) => {
      const measured = await generator.measure(service, work, durationMs);
      results.addRow(`open transaction: ${moment}`, "service", "patch", measured);
      console.error(`  ${moment}: ${Math.round(measured.throughput)} updates/s`);
    };
    const slice = options.quick ? quickSliceMs : sliceMs;
    await measure("none yet", slice / 3);
    const sql = new Bun.SQL(database, { max: 1 });
    await sql.begin("ISOLATION LEVEL REPEATABLE READ", async (open) => {
      // The snapshot is taken by the first statement, not by BEGIN.
      await open`SELECT count(*) FROM pets`;
      const slices = options.quick ? 2 : Math.ceil(options.openMs / slice);
      for (let n = 1; n <= slices; n++) await measure(`${(n * slice) / 1000} s`, slice);
    });
    await sql.close();
    await measure("over", slice / 3);
    await service.stop();
  } finally {
    await server.stop();
  }
}
