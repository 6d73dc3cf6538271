import { SQL } from "bun";
import { signalAll } from "../postgres.ts";
import { until } from "../until.ts";
import type { Cluster } from "./cluster.ts";
import { withDatabase } from "./recording.ts";

/** Faults of a moment, between one instance and the database or of the database. */
export const disturbances = [
  "connections are cut",
  "requests are held",
  "responses are held",
  "requests are lost",
  "responses are lost",
  "connections are terminated",
  "statements are cancelled",
  "server processes are stopped",
  "a server process is killed",
  "the database is paused",
  "no connection is free",
  "the disk is full",
] as const;
export type Disturbance = (typeof disturbances)[number];

export const isDisturbance = (fault: string): fault is Disturbance =>
  disturbances.some((one) => one === fault);

const patienceMs = 20_000;

/** Lets one fault happen to the instance with this number. Resolves once it is over. */
export async function disturb(
  fault: Disturbance,
  cluster: Cluster,
  victim: number,
  ms: number,
): Promise<void> {
  const server = cluster.server!;
  const proxy = cluster.proxies[victim]!;
  switch (fault) {
    case "connections are cut":
      return proxy.cut();
    case "requests are held": {
      const held = proxy.hold();
      await Bun.sleep(ms);
      return held.release();
    }
    case "responses are held": {
      const release = proxy.holdResponses();
      await Bun.sleep(ms);
      return release();
    }
    case "requests are lost": {
      const held = proxy.hold();
      await Bun.sleep(ms);
      return held.drop();
    }
    case "responses are lost":
      proxy.holdResponses();
      await Bun.sleep(ms);
      return proxy.cut();
    case "connections are terminated":
      return void (await findProcesses(cluster, victim, "pg_terminate_backend(pid)"));
    case "statements are cancelled":
      return void (await findProcesses(cluster, victim, "pg_cancel_backend(pid)"));
    case "server processes are stopped": {
      const pids = await findProcesses(cluster, victim);
      signalAll(pids, "SIGSTOP");
      await Bun.sleep(ms);
      return signalAll(pids, "SIGCONT");
    }
    case "a server process is killed":
      // The server ends all its processes then, and recovers as from a crash.
      signalAll((await findProcesses(cluster, victim)).slice(0, 1), "SIGKILL");
      return isBack(cluster);
    case "the database is paused":
      server.pause();
      await Bun.sleep(ms);
      return server.resume();
    case "no connection is free":
      return takeConnections(cluster, victim, ms);
    case "the disk is full":
      cluster.disk?.fill();
      // The tables have some pages left.
      await Bun.sleep(1_000 + ms);
      cluster.disk?.empty();
      return isBack(cluster);
  }
}

/** The processes of the server that work for an instance, after `act` was done to each. */
function findProcesses({ databaseUrl, proxies }: Cluster, victim: number, act = "true") {
  const ports = [0, ...proxies[victim]!.serverPorts()];
  const text = `SELECT pid, ${act} FROM pg_stat_activity WHERE client_port IN (${ports}) ORDER BY pid`;
  return withDatabase(databaseUrl, async (sql): Promise<number[]> => {
    const rows: [number][] = await sql.unsafe(text).values();
    return rows.map(([pid]) => Number(pid));
  });
}

/** Opens connections until there is none left, cuts those of an instance and takes these too. */
async function takeConnections({ databaseUrl, proxies }: Cluster, victim: number, ms: number) {
  const taken: SQL[] = [];
  const take = async () => {
    const sql = new SQL(databaseUrl, { max: 1 });
    taken.push(sql);
    return sql.connect().then(
      () => true,
      () => false,
    );
  };
  try {
    while (await take());
    proxies[victim]!.cut();
    for (const endsAt = performance.now() + ms; performance.now() < endsAt; ) {
      if (!(await take())) await Bun.sleep(20);
    }
  } finally {
    await Promise.all(taken.map((sql) => sql.close({ timeout: 0 })));
  }
}

/** Resolves once the server works. Starts it if it has ended, as after a log that found no space. */
async function isBack({ databaseUrl, server }: Cluster): Promise<void> {
  const answers = () =>
    withDatabase(databaseUrl, (sql) => sql`SELECT FROM store FOR UPDATE`).then(
      () => true,
      () => false,
    );
  const runs = async () => {
    if (await answers()) return true;
    if (!server!.isRunning) await server!.start();
    return false;
  };
  await until(runs, patienceMs, "a database that works again");
}
