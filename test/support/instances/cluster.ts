import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLedger, seqOfRow } from "../feed-trial/changes.ts";
import { type PostgresServer, startPostgres } from "../postgres.ts";
import type { Engine } from "../service.ts";
import { type Fleet, type FleetOptions, startFleet } from "./fleet.ts";
import { withDatabase } from "./recording.ts";
import { openSlowProxy, type SlowProxy, upTo } from "./slow-network.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";

/** Instances on an empty database, on PostgreSQL each behind a proxy of its own. */
export interface Cluster extends AsyncDisposable {
  /** The address of the database, without a proxy. */
  readonly databaseUrl: string;
  readonly fleet: Fleet;
  /** Only on PostgreSQL. */
  readonly server: PostgresServer | undefined;
  readonly proxies: readonly SlowProxy[];
  /** The disk of the server, if it can be filled. */
  readonly disk: SmallDisk | undefined;
}

export interface ClusterOptions extends FleetOptions {
  /** Whether the data of the server is on a disk that can be filled, where root runs this. */
  readonly hasSmallDisk?: boolean | undefined;
}

/** One instance on SQLite. */
export async function startCluster(engine: Engine, options: ClusterOptions): Promise<Cluster> {
  await using stack = new AsyncDisposableStack();
  if (engine === "sqlite") {
    const folder = mkdtempSync(join(tmpdir(), "petstore-trial-"));
    stack.defer(() => rmSync(folder, { recursive: true }));
    const databaseUrl = `sqlite:${join(folder, "trial.db")}`;
    const fleet = await startFleet(databaseUrl, { ...options, size: 1 });
    stack.defer(fleet.leave);
    const parts = { databaseUrl, fleet, server: undefined, proxies: [], disk: undefined };
    return { ...parts, ...disposalOf(stack.move()) };
  }
  const { size = 3 } = options;
  const disk = options.hasSmallDisk ? mountSmallDisk() : undefined;
  if (disk) stack.defer(disk.leave);
  const few = { max_wal_size: "48MB", min_wal_size: "32MB" };
  const server = await startPostgres({
    // Few connections, so that a fault can take all of them.
    settings: { max_connections: "100", ...(disk ? few : {}) },
    ...(disk ? { parent: disk.folder } : {}),
  });
  stack.defer(server.destroy);
  const databaseUrl = await server.freshDatabase();
  // The last instance gets every response a little late, so that others overtake it, and a kill of
  // the database hits commits whose acknowledgement is not delivered yet.
  const proxies = Array.from({ length: size }, (_, index) =>
    openSlowProxy(server.port, index === size - 1 ? upTo(8) : () => 0),
  );
  stack.defer(() => {
    for (const proxy of proxies) proxy.close();
  });
  const addressOf = (index: number) =>
    databaseUrl.replace(`${server.port}`, `${proxies[index]!.port}`);
  const fleet = await startFleet(databaseUrl, { addressOf, ...options, size });
  stack.defer(fleet.leave);
  return { databaseUrl, fleet, server, proxies, disk, ...disposalOf(stack.move()) };
}

const disposalOf = (stack: AsyncDisposableStack): AsyncDisposable => ({
  [Symbol.asyncDispose]: () => stack.disposeAsync(),
});

/** Verifies a store, and compares the pages of its changes with its ledger. Returns what is wrong. */
export async function findStoreFaults(
  { databaseUrl, fleet }: Pick<Cluster, "databaseUrl" | "fleet">,
  key: string,
): Promise<string[]> {
  const { code, out, err } = await fleet.place.runHere(["verify", "--database", databaseUrl]);
  const wrong = code === 0 && err === "" ? [] : [`verify: ${err}${out}`];
  const paged = (await readLedger(fleet, key)).map(seqOfRow);
  const stored = await withDatabase(databaseUrl, async (sql) => {
    const rows: [bigint][] = await sql`SELECT seq FROM ledger ORDER BY seq`.values();
    return rows.map(([seq]) => Number(seq));
  });
  if (paged.join() !== stored.join()) wrong.push(`pages have ${paged}, the ledger ${stored}`);
  return wrong;
}
