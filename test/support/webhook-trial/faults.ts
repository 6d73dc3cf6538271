import { type Fault, inflict } from "../instances/chaos.ts";
import { startFleet } from "../instances/fleet.ts";
import { openSlowProxy } from "../instances/slow-network.ts";
import { openTrialDatabase } from "../instances/trial-database.ts";
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
  | "the receiver dies"
  /** It can still reach the receiver. */
  | "the first instance cannot reach the database";

export interface WebhookFaultOptions {
  readonly webhooks: number;
  /** On SQLite only faults of an instance or the receiver. */
  readonly sequence: readonly WebhookFault[];
  /** Requests that change the inventory between two faults. */
  readonly requestsBetween: number;
}

const receiverDownMs = 300;
/** Longer than a lease. */
const cutOffMs = 2 * trialBounds.leaseMs;
/** Nothing listens there. */
const closedPort = 1;

/** Two instances on PostgreSQL, or one on SQLite, with a bad receiver, and one fault after another. */
export async function endureWebhookFaults(
  engine: Engine,
  { webhooks, sequence, requestsBetween }: WebhookFaultOptions,
): Promise<WebhookFigures> {
  await using database = await openTrialDatabase(engine);
  const { url, server, instances: size } = database;
  const proxy = server && openSlowProxy(server.port, () => 0);
  const fleet = await startFleet(url, {
    size,
    pets: webhookTrialPets,
    addressOf: (index) =>
      proxy && index === 0 ? url.replace(`${server.port}`, `${proxy.port}`) : url,
    ...quickInstances,
  });
  try {
    const trial = await startWebhookTrial(fleet, {
      databaseUrl: url,
      webhooks,
      timeoutMs: trialBounds.timeoutMs,
    });
    await trial.changes.more(requestsBetween);
    for (const [round, fault] of sequence.entries()) {
      if (fault === "the receiver dies") await trial.receiver.die(receiverDownMs);
      else if (fault === "the first instance cannot reach the database") {
        proxy!.redirect(closedPort);
        proxy!.cut();
        await Bun.sleep(cutOffMs);
        proxy!.redirect(server!.port);
      } else await inflict(fault, server!, fleet, round % size, async () => {});
      await trial.changes.more(requestsBetween);
    }
    await trial.end();
    const figures = await trial.expectLedger();
    await trial.receiver.stop();
    return figures;
  } finally {
    await fleet.leave();
    proxy?.close();
  }
}
