// The cost of a PATCH with a ledger of millions of rows, compared with a new one.
import { type Bench, compare, divide } from "../bench.ts";
import { startService, startServiceOn } from "../contestants.ts";
import { memoryOf } from "../processes.ts";

const entries = 1000;
const sliceMs = 5000;

export async function ledger(bench: Bench): Promise<void> {
  const { results, directory, generator, options } = bench;
  const first = await startService({ directory, entries });
  const work = { kind: "patch", connections: options.writers, entries } as const;
  const [before] = await compare(bench, [{ contestant: first, work }]);
  results.addRow("ledger, new", "service PATCH", "patch", before!);

  for (let rows = 0; rows < options.ledgerRows; ) {
    const slice = await generator.measure(first, work, sliceMs);
    rows += slice.patch.requests;
    console.error(`  ledger: about ${rows.toLocaleString("en-US")} rows`);
  }
  await first.stop();
  const service = await startServiceOn({ directory, entries }, first.database, first.target.key);
  const rows = options.ledgerRows.toLocaleString("en-US");
  results.addNote(
    `A ledger of ${rows} rows: ready after ${(service.startMs / 1000).toFixed(2)} s, ` +
      `${memoryOf(service.pid)?.residentMb.toFixed(0) ?? "n/a"} MB resident.`,
  );
  const [after] = await compare(bench, [{ contestant: service, work }]);
  results.addRow(`ledger, ${rows} rows`, "service PATCH", "patch", after!);
  results.addFigure("ledgerGrowth", divide(after!.cpuMicroseconds, before!.cpuMicroseconds));
  await service.stop();
}
