import { expect, test } from "bun:test";
import { endureFaults, type Fault } from "../support/instances/chaos.ts";
import { stalls } from "../support/instances/stalls.ts";

test("three instances act as one inventory while instances and the database are killed", async () => {
  const sequence: Fault[] = [
    "an instance is killed",
    "an instance is stopped and wakes up late",
    "an instance and the database are killed together",
  ];
  // With pauses, because the clients also send while servers start, which takes most of the time.
  const figures = await endureFaults({ sequence, updatesBetween: 20, pauseMsMax: 300 });
  expect(figures.wrong).toEqual([]);
  expect(figures.acknowledged).toBeGreaterThan(100);
  expect(figures.reads).toBeGreaterThan(50);
});

test("one instance whose commits overlap acts as one inventory while it or the database is killed", async () => {
  const sequence: Fault[] = [
    "the database is killed",
    "an instance is killed",
    "an instance and the database are killed together",
  ];
  const load = { instances: 1, writers: 48, pauseMsMax: 2 };
  const figures = await endureFaults({ sequence, updatesBetween: 500, ...load });
  expect(figures.wrong).toEqual([]);
  expect(figures.acknowledged).toBeGreaterThan(2_000);
});

test("nothing is stored late while commits are held, delayed, cut or lost, and server processes stopped", async () => {
  const figures = await endureFaults({ sequence: stalls, updatesBetween: 20, instances: 2 });
  expect(figures.wrong).toEqual([]);
  expect(figures.acknowledged).toBeGreaterThan(100);
});
