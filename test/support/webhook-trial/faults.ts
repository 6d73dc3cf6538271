import { type Fault, inflict } from "../instances/chaos.ts";
import { startFleet } from "../instances/fleet.ts";
import { startPostgres } from "../postgres.ts";
import type { Engine } from "../service.ts";
import { trialBounds } from "./bounds.ts";
import {
  quickInstances,
  startWebhookTrial,
  type WebhookFigures,
  webhookTrialPets,
} from "./trial.ts";

export type WebhookFault = Fault | "the receiver dies";

export interface WebhookTrialOptions {
  readonly webhooks: number;
  /** On SQLite only faults of an instance or the receiver. */
  readonly sequence: readonly WebhookFault[];
  /** Requests that change the inventory between two faults. */
  readonly requestsBetween: number;
}

const downMs = 300;

/** Two instances on PostgreSQL, or one on SQLite, with a bad receiver, and one fault after another. */
export async function endureWebhookFaults(
  engine: Engine,
  { webhooks, sequence, requestsBetween }: WebhookTrialOptions,
): Promise<WebhookFigures> {
  const server = engine === "postgres" ? await startPostgres() : undefined;
  const databaseUrl = (await server?.freshDatabase()) ?? "sqlite:webhooks.db";
  const size = engine === "postgres" ? 2 : 1;
  const fleet = await startFleet(databaseUrl, { size, pets: webhookTrialPets, ...quickInstances });
  try {
    const trial = await startWebhookTrial(fleet, webhooks, trialBounds);
    await trial.changes.more(requestsBetween);
    for (const [round, fault] of sequence.entries()) {
      if (fault === "the receiver dies") await trial.receiver.die(downMs);
      else await inflict(fault, server!, fleet, round % size, async () => {});
      await trial.changes.more(requestsBetween);
    }
    await trial.end();
    const figures = await trial.expectLedger();
    await trial.receiver.stop();
    return figures;
  } finally {
    await fleet.leave();
    await server?.destroy();
  }
}
