// How the service groups updates into transactions, from its own metrics.
import { type ContestantOptions, startService } from "./contestants.ts";
import type { Generator } from "./generator.ts";
import { freePort } from "./start-server.ts";
import type { Work } from "./work.ts";

const counters = [
  "petstore_commit_changes_sum",
  "petstore_commit_changes_count",
  "petstore_database_round_trips_total",
  "petstore_database_statements_total",
];

/** Starts a service with metrics, and measures each load after a warm-up. */
export async function measureCommits(
  options: ContestantOptions,
  loads: readonly Extract<Work, { kind: "patch" }>[],
  { generator, runMs }: { generator: Generator; runMs: number },
): Promise<Record<string, number>[]> {
  const port = await freePort();
  const env = { ...options.env, PETSTORE_METRICS_PORT: String(port) };
  const service = await startService({ ...options, env });
  const rows: Record<string, number>[] = [];
  for (const load of loads) {
    await generator.measure(service, load, runMs / 2);
    const before = await readCounters(port);
    const { patch } = await generator.measure(service, load, runMs);
    const after = await readCounters(port);
    const [changes, commits, roundTrips, statements] = after.map(
      (value, index) => value - before[index]!,
    ) as [number, number, number, number];
    if (changes !== patch.requests) {
      throw new Error(`There were ${patch.requests} updates, but the metrics count ${changes}.`);
    }
    rows.push({
      connections: load.connections,
      "updates per transaction": changes / commits,
      "round trips per update": roundTrips / changes,
      "statements per update": statements / changes,
    });
  }
  await service.stop();
  return rows;
}

async function readCounters(port: number): Promise<number[]> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return counters.map((name) => {
    const value = new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1];
    if (value === undefined) throw new Error(`The metrics have no ${name}.`);
    return Number(value);
  });
}
