import { type Fault, inflict, type Sequence } from "../instances/chaos.ts";
import { startCluster } from "../instances/cluster.ts";
import type { Disturbance } from "../instances/disturbances.ts";
import type { Engine } from "../service.ts";
import { trialBounds } from "./bounds.ts";
import {
  quickInstances,
  startWebhookTrial,
  type WebhookFigures,
  webhookTrialPets,
} from "./trial.ts";

export type WebhookFault =
  | Fault
  | Disturbance
  | "the receiver dies"
  /** One of them has the leases. It must not go on with its attempts when another one begins. */
  | "each instance in turn cannot reach the database, while the receiver hangs";

/** On SQLite only faults of an instance or the receiver. */
export interface WebhookFaultOptions extends Sequence<WebhookFault> {
  readonly webhooks: number;
  /** Requests that change the inventory between two faults. */
  readonly requestsBetween: number;
}

const receiverDownMs = 300;
/** Longer than a lease, and than the instance that takes over needs for an attempt. */
const hangingMs = 2 * trialBounds.leaseMs;

/**
 * Two instances on PostgreSQL unless told otherwise, or one on SQLite, with a bad receiver, and one fault
 * after another.
 */
export async function endureWebhookFaults(
  engine: Engine,
  { webhooks, sequence, requestsBetween, instances = 2, random, hasSmallDisk }: WebhookFaultOptions,
): Promise<WebhookFigures> {
  await using cluster = await startCluster(engine, {
    size: instances,
    pets: webhookTrialPets,
    hasSmallDisk,
    ...quickInstances,
  });
  const { fleet, databaseUrl } = cluster;
  const { timeoutMs } = trialBounds;
  const trial = await startWebhookTrial(fleet, { databaseUrl, webhooks, timeoutMs });
  const { receiver } = trial;
  try {
    await trial.changes.more(requestsBetween);
    for (const [turn, fault] of sequence.entries()) {
      const happen = (one: Fault | Disturbance, victim = turn % fleet.size) =>
        inflict(one, cluster, victim, async () => {}, random);
      if (fault === "the receiver dies") await receiver.die(receiverDownMs);
      else if (
        fault === "each instance in turn cannot reach the database, while the receiver hangs"
      )
        for (let index = 0; index < fleet.size; index++) {
          const isCutOff = happen("an instance cannot reach the database", index);
          await Promise.all([receiver.hang(hangingMs), isCutOff]);
        }
      else await happen(fault);
      await trial.changes.more(requestsBetween);
    }
    await trial.end();
    return await trial.compareWithLedger();
  } finally {
    await receiver.stop();
  }
}
