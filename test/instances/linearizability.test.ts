import { expect, test } from "bun:test";
import { endureFaults, faults } from "../support/instances/chaos.ts";

test("three instances act as one inventory while instances and the database are killed", async () => {
  const figures = await endureFaults(faults, 150);
  expect(figures.acknowledged).toBeGreaterThan(900);
  expect(figures.reads).toBeGreaterThan(100);
}, 120_000);
