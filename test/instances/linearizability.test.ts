import { expect, test } from "bun:test";
import { endureFaults, faults } from "../support/instances/chaos.ts";

test("three instances act as one inventory while instances and the database are killed", async () => {
  // With pauses, because the clients also send while servers start, which takes most of the time.
  const figures = await endureFaults(faults, 40, 60);
  expect(figures.acknowledged).toBeGreaterThan(300);
  expect(figures.reads).toBeGreaterThan(100);
}, 120_000);
