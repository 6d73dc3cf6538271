import { expect, test } from "bun:test";
import type { Engine } from "../support/service.ts";
import { endureWebhookFaults, type WebhookFault } from "../support/webhook-trial/faults.ts";

const webhooks = 4;

const sequences: Record<Engine, readonly WebhookFault[]> = {
  sqlite: ["an instance is killed"],
  postgres: ["the receiver dies", "an instance and the database are killed together"],
};

for (const [engine, sequence] of Object.entries(sequences) as [Engine, WebhookFault[]][]) {
  // Concurrent, because most of the time is spent waiting for retries and leases.
  test.concurrent(`a receiver that fails in every way gets every change in order, from one instance at a time, over kills and restarts (${engine})`, async () => {
    const figures = await endureWebhookFaults(engine, { webhooks, sequence, requestsBetween: 10 });
    expect(figures.wrong).toEqual([]);
    expect(figures.confirmed).toBeLessThan(figures.requests);
    expect(figures.repeats).toBeGreaterThan(0);
  });
}
