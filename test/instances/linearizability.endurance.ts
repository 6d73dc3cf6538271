import { expect, test } from "bun:test";
import { endureFaults, faults } from "../support/instances/chaos.ts";

const rounds = 60;

const sequence = () =>
  Array.from({ length: rounds }, () => faults[Math.floor(Math.random() * faults.length)]!);

test(`three instances act as one inventory over ${rounds} faults`, async () => {
  const figures = await endureFaults({ sequence: sequence(), updatesBetween: 150 });
  console.log(JSON.stringify(figures));
  expect(figures.acknowledged).toBeGreaterThan(rounds * 150);
}, 900_000);

test(`one instance whose commits overlap acts as one inventory over ${rounds} faults`, async () => {
  const load = { instances: 1, writers: 64, pauseMsMax: 2, updatesBetween: 500 };
  const figures = await endureFaults({ sequence: sequence(), ...load });
  console.log(JSON.stringify(figures));
  expect(figures.acknowledged).toBeGreaterThan(rounds * 500);
}, 900_000);
