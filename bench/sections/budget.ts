// What each part of an update and of a read costs. Each part is measured alone, by calling the code of
// the service in a loop. A bare server shows what Bun takes. The remainder belongs to no part.
import { join } from "node:path";
import { type Bench, compare } from "../bench.ts";
import type { Costs, Job } from "../budget/service.ts";
import { captureList, type Service, startFloor, startService } from "../contestants.ts";
import { run } from "../processes.ts";
import { freePort } from "../start-server.ts";
import type { Work } from "../work.ts";

const connections = 64;
const entriesOf = { update: 1000, read: 20 };

/** The lines of the table, in the order of a request, and what each includes. */
const parts: Record<string, string> = {
  "HTTP in and out":
    "Bun: socket, parser, router, headers, body; a bare server without its handler",
  pipeline: "request id, head, Host, usage, route, scope; without the parts that have a line",
  authentication: "the key in the header, its digest, its caller",
  limiter: "both windows",
  parsing: "the operation: path, headers, body; without the commit",
  queue: "forming groups, giving each caller its outcome",
  "message to the writer": "encoding and decoding the units",
  rules: "the rows of the units",
  hash: "the hashes of the rows",
  storage: "SQLite: statements, pages, transaction, flush",
  "file checks": "one check of the files per group",
  "message back": "encoding and decoding the outcomes",
  threads: "passing both texts between the threads",
  list: "update: applying the rows to the list; read: the operation",
  observation: "the counters of the metrics",
  response: "headers and Response",
};

export async function budget(bench: Bench): Promise<void> {
  const update = await costsOf(bench, "update");
  const read = await costsOf(bench, "read");
  const total = { part: "whole", includes: "the service, from its CPU time" };
  const rest = {
    part: "everything else",
    includes: "promises, garbage collection, waking threads",
  };
  const lines = Object.entries(parts).map(([part, includes]) => ({ part, includes }));
  const format = (cost: number | undefined) => cost?.toFixed(2) ?? "";
  bench.results.tables.push({
    title: `CPU time by part: PATCH with ${entriesOf.update} entries, GET with ${entriesOf.read}, ${connections} connections`,
    rows: [...lines, rest, total].map(({ part, includes }) => ({
      part,
      "PATCH µs": format(update[part]),
      "GET µs": format(read[part]),
      includes,
    })),
  });
}

/** The parts, the remainder and the whole of one operation. */
async function costsOf(bench: Bench, kind: Job["kind"]): Promise<Costs> {
  const { directory } = bench;
  const env = { PETSTORE_METRICS_PORT: String(await freePort()) };
  const service = await startService({ directory, entries: entriesOf[kind], env });
  const { whole, bare } = await measureWhole(bench, service, kind);
  await service.stop();
  const job: Job = { kind, database: service.database, key: service.target.key };
  const program = join(import.meta.dir, "../budget/process.ts");
  const input = JSON.stringify(job);
  const { bare: handler, ...measured }: Costs = JSON.parse(
    await run([process.execPath, program], { input }),
  );
  const costs: Costs = { ...measured, "HTTP in and out": bare - handler! };
  const known = Object.values(costs).reduce((sum, cost) => sum + cost, 0);
  return { ...costs, "everything else": whole - known, whole };
}

/** The CPU time per response of the service and of the bare server. */
async function measureWhole(bench: Bench, service: Service, kind: Job["kind"]) {
  const { directory, generator, options } = bench;
  const entries = entriesOf[kind];
  const bare = await startFloor(service, directory, "budget/bare.ts");
  const expectedFile = await captureList(service, directory, entries);
  const work: Work =
    kind === "read"
      ? { kind: "get", connections, expectedFile }
      : { kind: "patch", connections, entries };
  await generator.measure(service, work, options.quick ? 500 : 8000);
  await generator.measure(bare, work, options.quick ? 500 : 2000);
  const tasks = [service, bare].map((contestant) => ({ contestant, work }));
  const measured = await compare(bench, tasks);
  await bare.stop();
  const [whole, floor] = measured.map(({ cpuMicroseconds }) => cpuMicroseconds ?? Number.NaN);
  return { whole: whole!, bare: floor! };
}
