import { expect, test } from "bun:test";
import { endureFaults, faults } from "../support/instances/chaos.ts";

test("three instances act as one inventory while instances and the database are killed", async () => {
  // The last fault also kills the database.
  const sequence = faults.filter((fault) => fault !== "the database is killed");
  // With pauses, because the clients also send while servers start, which takes most of the time.
  const figures = await endureFaults(sequence, 20, 300);
  expect(figures.acknowledged).toBeGreaterThan(140);
  expect(figures.reads).toBeGreaterThan(70);
}, 120_000);
