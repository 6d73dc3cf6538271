import { expect } from "bun:test";
import { checkHistory } from "../linearizability/checker.ts";
import { type PostgresServer, startPostgres } from "../postgres.ts";
import { boundless, type Fleet, startFleet } from "./fleet.ts";
import { startRecorder } from "./recording.ts";
import { openSlowProxy, upTo } from "./slow-network.ts";
import { isStall, type Stall, stall } from "./stalls.ts";
import { startTraffic } from "./traffic.ts";

export const faults = [
  "an instance is killed",
  "an instance is replaced in good order",
  "the database is killed",
  "the database is restarted",
  "an instance is stopped and wakes up late",
  "an instance and the database are killed together",
] as const;
export type Fault = (typeof faults)[number];

export interface Figures {
  readonly acknowledged: number;
  readonly unknown: number;
  readonly reads: number;
  readonly ledgerRows: number;
}

/** Ids at and beyond the limits of JSON numbers, among plain ones. */
const pets = [1n, 2n, 3n, 4n, 5n, 6n, -7n, 9007199254740993n, 9223372036854775807n];

export interface Endurance {
  readonly sequence: readonly (Fault | Stall)[];
  readonly updatesBetween: number;
  /** Three unless given. */
  readonly instances?: number;
  readonly writers?: number;
  readonly pauseMsMax?: number;
  /** Whether all updates have idempotency keys. */
  readonly isKeyed?: boolean;
}

/**
 * Instances under parallel updates and reads, and one fault after another. What the clients saw must
 * be what one inventory, changed by one update at a time, would have shown.
 */
export async function endureFaults(endurance: Endurance): Promise<Figures> {
  const { sequence, updatesBetween, instances: size = 3, writers = 9, ...terms } = endurance;
  const server = await startPostgres();
  const databaseUrl = await server.freshDatabase();
  // The last instance gets every response a little late, so that others overtake it, and a kill of
  // the database hits commits whose acknowledgement is not delivered yet.
  const proxies = Array.from({ length: size }, (_, index) =>
    openSlowProxy(server.port, index === size - 1 ? upTo(8) : () => 0),
  );
  const addressOf = (index: number) =>
    databaseUrl.replace(`${server.port}`, `${proxies[index]!.port}`);
  const fleet = await startFleet(databaseUrl, { pets, size, addressOf });
  try {
    const { key } = await fleet.issueKey(...boundless);
    const recorder = await startRecorder(fleet, key, databaseUrl);
    const traffic = startTraffic(fleet, recorder, { pets, writers, readers: 6, ...terms });
    await traffic.moreUpdates(updatesBetween);
    for (const [round, fault] of sequence.entries()) {
      const victim = round % fleet.size;
      const more = () => traffic.moreUpdates(updatesBetween);
      if (isStall(fault)) await stall(fault, server, databaseUrl, proxies[victim]!, more);
      else await inflict(fault, server, fleet, victim, more);
      await more();
    }
    await traffic.end();
    const history = await recorder.history(databaseUrl);
    expect(recorder.surprises).toEqual([]);
    expect(checkHistory(history)).toEqual([]);
    expect(await fleet.place.runHere(["verify", "--database", databaseUrl])).toMatchObject({
      code: 0,
      err: "",
    });
    return {
      acknowledged: recorder.acknowledged(),
      unknown: recorder.updates.filter(({ outcome }) => outcome === "unknown").length,
      reads: recorder.reads.length,
      ledgerRows: history.ledger.length,
    };
  } finally {
    await fleet.leave();
    for (const proxy of proxies) proxy.close();
    await server.destroy();
  }
}

/** Lets one fault happen. Resolves once the instance and the database run again. */
export async function inflict(
  fault: Fault,
  server: PostgresServer,
  fleet: Fleet,
  victim: number,
  moreUpdates: () => Promise<void>,
): Promise<void> {
  switch (fault) {
    case "an instance is killed":
      await fleet.kill(victim);
      await fleet.start(victim);
      break;
    case "an instance is replaced in good order":
      expect(await fleet.stop(victim)).toBe(0);
      await fleet.start(victim);
      break;
    case "the database is killed":
      await server.kill();
      await server.start();
      break;
    case "the database is restarted":
      await server.restart();
      break;
    case "an instance is stopped and wakes up late":
      fleet.instance(victim).kill("SIGSTOP");
      // Longer than an idle instance may lock the ledger's head.
      await Promise.all([moreUpdates(), Bun.sleep(2_000)]);
      fleet.instance(victim).kill("SIGCONT");
      break;
    case "an instance and the database are killed together":
      await Promise.all([fleet.kill(victim), server.kill()]);
      await Promise.all([server.start(), fleet.start(victim)]);
      break;
  }
}
