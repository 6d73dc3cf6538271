// Updates beside webhooks: the throughput of PATCH with and without deliveries, in turn, and how many
// changes are delivered meanwhile.
import { join } from "node:path";
import { type Bench, divide } from "../bench.ts";
import { best } from "../best.ts";
import { startService } from "../contestants.ts";
import type { Measured } from "../generator.ts";
import { startPostgres } from "../postgres.ts";
import { run, start, stop } from "../processes.ts";

const entries = 1_000;
const connections = 64;
const petstore = join(import.meta.dir, "../../bin/petstore");
const allowed = {
  PETSTORE_WEBHOOKS_ALLOW_INSECURE: "1",
  PETSTORE_WEBHOOKS_ALLOWED_NETWORKS: "127.0.0.1",
};

export async function webhooks(bench: Bench): Promise<void> {
  await measureBoth(bench, "SQLite");
  const server = await startPostgres(bench.directory);
  try {
    await measureBoth(bench, "PostgreSQL", await server.create("webhooks"));
  } finally {
    await server.stop();
  }
}

async function measureBoth(bench: Bench, engine: string, database?: string): Promise<void> {
  const { directory, options, generator, results } = bench;
  const began = { directory, entries, env: allowed };
  const service = await startService(database === undefined ? began : { ...began, database });
  const ready = Promise.withResolvers<number>();
  const receiver = start({
    command: [process.execPath, join(import.meta.dir, "../webhook-receiver-process.ts")],
    onMessage: (message) => ready.resolve((message as { port: number }).port),
  });
  const url = `http://127.0.0.1:${await ready.promise}/`;
  const command = async (...words: string[]) =>
    JSON.parse(
      await run([petstore, "webhooks", ...words, "--json", "--database", service.database], {
        env: allowed,
      }),
    ) as { id: string };
  const received = async () => (await (await fetch(url)).json()) as { changes: number };
  /** Waits until the service has noticed all webhooks. */
  const deliverOne = async (count: number) => {
    const wanted = (await received()).changes + count;
    await generator.measure(service, { ...work, connections: 1, perSecond: 10 }, 100);
    for (const giveUpAt = performance.now() + 30_000; (await received()).changes < wanted; ) {
      if (performance.now() > giveUpAt) throw new Error("The webhooks are not delivered.");
      await Bun.sleep(50);
    }
  };
  const work = { kind: "patch", connections, entries } as const;
  const durationMs = options.runMs * 2;
  const ids: string[] = [];
  await generator.measure(service, work, durationMs / 2);

  for (const count of options.quick ? [1] : [1, 20]) {
    const without: Measured[] = [];
    const beside: Measured[] = [];
    let delivered = 0;
    for (let round = 0; round < options.repeats; round++) {
      // A webhook that is created again begins at the end, so every round begins without a backlog.
      for (const id of ids.splice(0)) await command("delete", id);
      without.push(await generator.measure(service, work, durationMs));
      while (ids.length < count) ids.push((await command("create", "--url", url)).id);
      await deliverOne(count);
      const before = (await received()).changes;
      beside.push(await generator.measure(service, work, durationMs));
      delivered += (await received()).changes - before;
    }
    const scenario = `PATCH, ${connections} connections, ${engine}`;
    results.addRow(scenario, "no webhooks", "patch", best(without));
    results.addRow(scenario, `${count} webhooks`, "patch", best(beside));
    const ratios = beside.map(({ throughput }, at) => divide(throughput, without[at]!.throughput)!);
    const perSecond = Math.round((delivered * 1_000) / durationMs / options.repeats);
    results.addNote(
      `${scenario}, ${count} webhooks against none: ${ratios.map((one) => one.toFixed(2)).join(", ")}. ` +
        `The receiver confirmed ${perSecond} changes a second meanwhile.`,
    );
  }
  await Promise.all([service.stop(), stop(receiver)]);
}
