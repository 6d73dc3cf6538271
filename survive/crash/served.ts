// Services that are killed under load. Clients wait while the service is down, then go on.
import { join } from "node:path";
import { withDatabase } from "../../test/support/instances/recording.ts";
import { type PostgresServer, startPostgres } from "../../test/support/postgres.ts";
import { openWorkspace, type Served } from "../../test/support/process.ts";
import { until } from "../../test/support/until.ts";
import { createGate } from "../gate.ts";
import { clientsCount, type Found, findFaults, type Load, sendLoad } from "../load.ts";
import { createStore, type Fault, faultsIn, type Keys, localWebhooks } from "../store.ts";
import { goesOn, type Lane } from "./lane.ts";

/** Long enough for several commits, short enough for many kills. */
const loadMsMax = 100;
const stepsMax = 100;

export function killOnSqlite(lane: Lane): Promise<void> {
  return killUnderLoad(lane, `sqlite:${join(lane.folder, "production.db")}`);
}

export async function killOnPostgres(lane: Lane): Promise<void> {
  const server = await startPostgres();
  try {
    await killUnderLoad(lane, await server.freshDatabase(), server);
  } finally {
    await server.destroy();
  }
}

async function killUnderLoad(lane: Lane, database: string, server?: PostgresServer) {
  const { round, random, command } = lane;
  const keys = await createStore(database);
  const load: Load = { told: [], asked: [] };
  const gate = createGate();
  const place = openWorkspace();
  const words = ["serve", "--database", database, ...localWebhooks];
  let service: Served | undefined;
  let isOver = false;
  /** True from a kill until the clients may go on. */
  let isDown = false;
  let onStep = () => {};

  const target = {
    ...keys,
    baseUrl: () => service!.baseUrl,
    /** Called before each request and directly after each response. */
    position() {
      onStep();
      return 0;
    },
    async mayFail({ message }: Error) {
      // Connections to a database that was killed may fail once more.
      const isExpected = isDown || (server && message.includes(": 503 "));
      if (!isExpected) round.fail("wrong", `a service that was not killed: ${message}`);
      await gate.pass();
      return true;
    },
    isOver: () => isOver,
  };

  async function report(faults: readonly Fault[]): Promise<void> {
    for (const { wrong, what } of faults) round.fail(wrong, `${what} (after a kill)`);
  }

  /** Starts the service if it is down, and compares it with what clients were told before they go on. */
  async function bringUp(): Promise<void> {
    if (!service) {
      // Sometimes a start is killed too: it may be repairing the store.
      for (; random.chance(0.1); round.faults(1)) {
        const starting = place.start([...words, "--port", "0"], { command });
        await Bun.sleep(random.below(300));
        starting.kill("SIGKILL");
        await starting.exited;
      }
      if (server) await noSessions(database);
      if (random.chance(0.2)) await report(await faultsIn(database, load, 0));
      service = await place.serve(words, { command });
    }
    await isReady(service);
    await report([...findFaults(load, await foundBy(service, keys), 0)]);
    isDown = false;
    gate.open();
  }

  /** Kills at a random moment, or directly after a response. Resolves when every client has noticed. */
  async function killSoon(): Promise<void> {
    const victims = random.pick(server ? ["service", "database", "both"] : ["service"]);
    const killed = Promise.withResolvers<unknown>();
    const kill = () => {
      onStep = () => {};
      isDown = true;
      gate.close();
      if (victims !== "database") service!.kill("SIGKILL");
      killed.resolve(victims === "service" ? service!.exited : server!.kill());
    };
    if (random.chance(0.3)) setTimeout(kill, random.below(loadMsMax));
    else {
      let left = 1 + random.below(stepsMax);
      onStep = () => {
        left -= 1;
        if (left === 0) kill();
      };
    }
    await killed.promise;
    round.faults(1);
    await gate.hasStopped(clientsCount);
    if (victims !== "service") await server!.start();
    if (victims !== "database") service = undefined;
  }

  try {
    await bringUp();
    const sending = sendLoad(target, random, Number.POSITIVE_INFINITY, load);
    for (let kill = 0; goesOn(lane, kill); kill++) {
      await killSoon();
      await bringUp();
    }
    isOver = true;
    await sending;
  } finally {
    isOver = true;
    isDown = true;
    gate.open();
    await place.leave();
    round.acknowledged(load.told.length);
  }
  await report(await faultsIn(database, load, 0));
}

/** After that nothing is stored that a killed service had sent. */
function noSessions(database: string): Promise<unknown> {
  const others = "datname = current_database() AND pid <> pg_backend_pid()";
  const counted = () =>
    withDatabase(database, (sql) =>
      sql.unsafe(`SELECT count(*)::int4 FROM pg_stat_activity WHERE ${others}`).values(),
    );
  return until(async () => (await counted())[0][0] === 0, 5_000, "sessions of a killed service");
}

function isReady({ baseUrl }: Served): Promise<unknown> {
  const ready = async () => (await fetch(new URL("/readyz", baseUrl))).ok;
  return until(ready, 10_000, "the service is not ready");
}

/** What a service shows of its store. */
async function foundBy({ baseUrl }: Served, { key, operatorKey }: Keys): Promise<Found> {
  const read = async (path: string, bearer: string) => {
    const headers = { Authorization: `Bearer ${bearer}` };
    const response = await fetch(new URL(path, baseUrl), { headers });
    if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const entries: { petId: number; quantity: number }[] = await read("/v1/inventory", key);
  const keys: { id: string; revokedAt: string | null }[] = await read("/admin/keys", operatorKey);
  const webhooks: { id: string }[] = await read("/admin/webhooks", operatorKey);
  return {
    quantities: new Map(entries.map(({ petId, quantity }) => [petId, quantity])),
    keys: new Map(keys.map(({ id, revokedAt }) => [id, revokedAt !== null])),
    webhooks: new Set(webhooks.map(({ id }) => id)),
    bans: new Set(),
  };
}
