import { expect, test } from "bun:test";
import { endureFaults } from "../support/instances/chaos.ts";
import { stalls } from "../support/instances/stalls.ts";

// The suite has two instances without idempotency keys.
test.each([
  { instances: 1, isKeyed: false },
  { instances: 1, isKeyed: true },
])(
  "nothing is stored late while commits are held, delayed, cut or lost, and server processes stopped: %p",
  async (load) => {
    const figures = await endureFaults({ sequence: stalls, updatesBetween: 20, ...load });
    expect(figures.wrong).toEqual([]);
    expect(figures.acknowledged).toBeGreaterThan(100);
  },
  300_000,
);
