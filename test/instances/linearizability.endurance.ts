import { expect, test } from "bun:test";
import { endureFaults, faults } from "../support/instances/chaos.ts";
import { stalls } from "../support/instances/stalls.ts";

const rounds = 60;

const sequenceOf = <F>(some: readonly F[]) =>
  Array.from({ length: rounds }, () => some[Math.floor(Math.random() * some.length)]!);

test(`three instances act as one inventory over ${rounds} faults`, async () => {
  const figures = await endureFaults({ sequence: sequenceOf(faults), updatesBetween: 150 });
  console.log(JSON.stringify(figures));
  expect(figures.acknowledged).toBeGreaterThan(rounds * 150);
}, 900_000);

test(`one instance whose commits overlap acts as one inventory over ${rounds} faults`, async () => {
  // While an instance that is alone is stopped, there are no updates to wait for.
  const some = faults.filter((fault) => fault !== "an instance is stopped and wakes up late");
  const load = { instances: 1, writers: 64, pauseMsMax: 2, updatesBetween: 500 };
  const figures = await endureFaults({ sequence: sequenceOf(some), ...load });
  console.log(JSON.stringify(figures));
  expect(figures.acknowledged).toBeGreaterThan(rounds * 500);
}, 900_000);

test.each([
  { instances: 3, isKeyed: false },
  { instances: 2, isKeyed: true },
  { instances: 1, writers: 64, pauseMsMax: 2, isKeyed: false },
  { instances: 1, isKeyed: true },
])(
  `nothing is stored late over ${rounds} faults of the network and of server processes: %p`,
  async (load) => {
    const figures = await endureFaults({
      sequence: sequenceOf(stalls),
      updatesBetween: 50,
      ...load,
    });
    console.log(JSON.stringify(figures));
    expect(figures.unknown).toBeGreaterThan(0);
  },
  1_800_000,
);
