import { expect, test } from "bun:test";
import { endureFeedFaults } from "../support/feed-trial/faults.ts";
import type { Fault } from "../support/instances/chaos.ts";
import type { Engine } from "../support/service.ts";

const consumers = 12;

const sequences: Record<Engine, readonly Fault[]> = {
  sqlite: ["an instance is killed"],
  postgres: ["an instance is killed", "an instance and the database are killed together"],
};

for (const [engine, sequence] of Object.entries(sequences) as [Engine, readonly Fault[]][]) {
  test(`${consumers} consumers of the feed see every change once and in order over kills and restarts (${engine})`, async () => {
    const figures = await endureFeedFaults(engine, { consumers, sequence, requestsBetween: 15 });
    expect(figures.wrong).toEqual([]);
    // Otherwise the faults ended no stream.
    expect(figures.connections).toBeGreaterThan(1.25 * consumers);
    expect(figures.repeats).toBeGreaterThan(0);
  });
}
