import { checkHistory } from "../linearizability/checker.ts";
import { type Cluster, findStoreFaults, startCluster } from "./cluster.ts";
import { type Disturbance, disturb, isDisturbance } from "./disturbances.ts";
import { boundless } from "./fleet.ts";
import { startRecorder } from "./recording.ts";
import { isStall, type Stall, stall } from "./stalls.ts";
import { startTraffic } from "./traffic.ts";

export const faults = [
  "an instance is killed",
  "an instance is replaced in good order",
  "the database is killed",
  "the database is restarted",
  "an instance is stopped and wakes up late",
  "an instance and the database are killed together",
  "an instance cannot reach the database",
] as const;
export type Fault = (typeof faults)[number];
export type AnyFault = Fault | Stall | Disturbance;

export interface Figures {
  readonly acknowledged: number;
  readonly unknown: number;
  readonly reads: number;
  readonly ledgerRows: number;
  /** What a correct service does not do. */
  readonly wrong: readonly string[];
}

/** Ids at and beyond the limits of JSON numbers, among plain ones. */
const pets = [1n, 2n, 3n, 4n, 5n, 6n, -7n, 9007199254740993n, 9223372036854775807n];

/** One fault after another. */
export interface Sequence<F = AnyFault> {
  readonly sequence: readonly F[];
  /** Chooses how long faults take. */
  readonly random?: () => number;
  readonly instances?: number;
  /** Whether the disk of the server can be full, where root runs this. */
  readonly hasSmallDisk?: boolean;
}

export interface Endurance extends Sequence {
  readonly updatesBetween: number;
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
  const { sequence, updatesBetween, instances: size = 3, writers = 9, random } = endurance;
  const { hasSmallDisk, pauseMsMax, isKeyed } = endurance;
  await using cluster = await startCluster("postgres", { size, pets, hasSmallDisk });
  const { databaseUrl, fleet } = cluster;
  const { key } = await fleet.issueKey(...boundless);
  const recorder = await startRecorder(fleet, key, databaseUrl);
  const load = { pets, writers, readers: 6, pauseMsMax, isKeyed };
  const traffic = startTraffic(fleet, recorder, load);
  const more = () => traffic.moreUpdates(updatesBetween);
  await more();
  for (const [turn, fault] of sequence.entries()) {
    await inflict(fault, cluster, turn % size, more, random);
    await more();
  }
  await traffic.end();
  const history = await recorder.history(databaseUrl);
  return {
    acknowledged: recorder.acknowledged(),
    unknown: recorder.updates.filter(({ outcome }) => outcome === "unknown").length,
    reads: recorder.reads.length,
    ledgerRows: history.ledger.length,
    wrong: [
      ...recorder.surprises,
      ...checkHistory(history).map(({ kind, message }) => `${kind}: ${message}`),
      ...(await findStoreFaults(cluster, key)),
    ],
  };
}

/** Longer than an idle instance may lock the ledger's head. */
const stoppedMs = 2_000;
/** Longer than the lease of a webhook in its trial. */
const cutOffMs = 3_000;
/** Nothing listens there. */
const closedPort = 1;
/** From a moment to more than a commit may take. */
const disturbedMs = (random: () => number) => 50 + 1_150 * random() ** 3;

/** Lets one fault happen. Resolves once the instance and the database run again. */
export async function inflict(
  fault: AnyFault,
  cluster: Cluster,
  victim: number,
  moreUpdates: () => Promise<unknown>,
  random = Math.random,
): Promise<void> {
  const { fleet, proxies } = cluster;
  const server = cluster.server!;
  if (isStall(fault)) return stall(fault, cluster, victim, moreUpdates, random);
  if (isDisturbance(fault)) return disturb(fault, cluster, victim, disturbedMs(random));
  switch (fault) {
    case "an instance is killed":
      await fleet.kill(victim);
      return fleet.start(victim);
    case "an instance is replaced in good order": {
      const code = await fleet.stop(victim);
      if (code !== 0) throw new Error(`an instance that was stopped returned ${code}`);
      return fleet.start(victim);
    }
    case "the database is killed":
      await server.kill();
      return server.start();
    case "the database is restarted":
      return server.restart();
    case "an instance is stopped and wakes up late":
      fleet.instance(victim).kill("SIGSTOP");
      // While an instance that is alone is stopped, there are no updates to wait for.
      await Promise.all([fleet.size > 1 && moreUpdates(), Bun.sleep(stoppedMs)]);
      return fleet.instance(victim).kill("SIGCONT");
    case "an instance and the database are killed together":
      await Promise.all([fleet.kill(victim), server.kill()]);
      await Promise.all([server.start(), fleet.start(victim)]);
      return;
    case "an instance cannot reach the database":
      proxies[victim]!.redirect(closedPort);
      proxies[victim]!.cut();
      await Bun.sleep(cutOffMs);
      return proxies[victim]!.redirect(server.port);
  }
}
