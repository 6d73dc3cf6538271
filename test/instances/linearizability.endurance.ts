import { expect, test } from "bun:test";
import { endureFaults, faults } from "../support/instances/chaos.ts";

const rounds = 60;

test(`three instances act as one inventory over ${rounds} faults`, async () => {
  const sequence = Array.from(
    { length: rounds },
    () => faults[Math.floor(Math.random() * faults.length)]!,
  );
  const figures = await endureFaults(sequence, 150);
  console.log(JSON.stringify(figures));
  expect(figures.acknowledged).toBeGreaterThan(rounds * 150);
}, 900_000);
