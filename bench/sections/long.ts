// The two long ones: a ledger of millions of rows, and a mixed load with its memory curve.
import { type Bench, compare, divide } from "../bench.ts";
import { type Contestant, startService, startServiceOn } from "../contestants.ts";
import { memoryOf } from "../processes.ts";

const entries = 1000;
const sliceMs = 5000;

export async function ledger(bench: Bench): Promise<void> {
  const { book, directory, generator, options } = bench;
  const fresh = await startService({ directory, entries });
  const work = { kind: "patch", connections: options.writers, entries } as const;
  const [before] = await compare(bench, [{ contestant: fresh, work }]);
  book.row("ledger, new", "service PATCH", "patch", before!);

  for (let rows = 0; rows < options.ledgerRows; ) {
    const slice = await generator.measure(fresh, work, sliceMs);
    rows += slice.patch.requests;
    console.error(`  ledger: about ${rows.toLocaleString("en-US")} rows`);
  }
  await fresh.stop();
  const service = await startServiceOn({ directory, entries }, fresh.database, fresh.target.key);
  const rows = options.ledgerRows.toLocaleString("en-US");
  book.note(
    `A ledger of ${rows} rows: ready after ${(service.startMs / 1000).toFixed(2)} s, ` +
      `${memoryOf(service.pid)?.residentMb.toFixed(0) ?? "n/a"} MB resident.`,
  );
  const [after] = await compare(bench, [{ contestant: service, work }]);
  book.row(`ledger, ${rows} rows`, "service PATCH", "patch", after!);
  book.figure("ledgerGrowth", divide(after!.cpuMicroseconds, before!.cpuMicroseconds));
  await service.stop();
}

export async function soak(bench: Bench): Promise<void> {
  const { book, directory, options } = bench;
  const service = await startService({ directory, entries });
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  let answers = 0;
  sample(bench, service, 0);
  for (let slice = 1; elapsedMs() < options.soakMs; slice++) {
    const measured = await bench.generator.measure(
      service,
      {
        kind: "mixed",
        writers: options.readers,
        readers: 8,
        entries,
        quantity: slice * 10_000_000,
      },
      Math.min(sliceMs, Math.max(500, options.soakMs - elapsedMs())),
    );
    answers += measured.get.requests + measured.patch.requests;
    if (slice === 1) book.row("soak, first slice", "service PATCH", "patch", measured);
    if (slice === 1) book.row("soak, first slice", "service GET", "get", measured);
    sample(bench, service, elapsedMs() / 1000);
  }
  const curve = book.memory.map(({ residentMb }) => residentMb);
  const settled = curve.slice(Math.ceil(curve.length / 5));
  book.note(
    `Mixed load for ${(elapsedMs() / 60_000).toFixed(1)} minutes, ${answers.toLocaleString("en-US")} answers, all right: ` +
      `${curve[0]?.toFixed(0)} MB at the start; after the first fifth between ` +
      `${Math.min(...settled).toFixed(0)} and ${Math.max(...settled).toFixed(0)} MB, ${curve.at(-1)?.toFixed(0)} MB at the end.`,
  );
  await service.stop();
}

function sample(bench: Bench, service: Contestant, seconds: number): void {
  const memory = memoryOf(service.pid);
  if (memory === undefined) return;
  bench.book.memory.push({ seconds, residentMb: memory.residentMb });
  console.error(`  soak: ${seconds.toFixed(0)} s  ${memory.residentMb.toFixed(0)} MB`);
}
