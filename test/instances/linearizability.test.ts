import { expect, test } from "bun:test";
import { endureFaults, type Fault } from "../support/instances/chaos.ts";

test("three instances act as one inventory while instances and the database are killed", async () => {
  const sequence: Fault[] = [
    "an instance is killed",
    "an instance is stopped and wakes up late",
    "an instance and the database are killed together",
  ];
  // With pauses, because the clients also send while servers start, which takes most of the time.
  const figures = await endureFaults(sequence, 20, 300);
  expect(figures.acknowledged).toBeGreaterThan(100);
  expect(figures.reads).toBeGreaterThan(50);
}, 120_000);
