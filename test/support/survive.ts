import { expect } from "bun:test";
import type { Part } from "../../survive/part.ts";
import { createTally, runRound, type Tally } from "../../survive/run.ts";

/** Runs one short round of a part of `npm run survive`. Expects that nothing was wrong. */
export async function expectSurvival(part: Part, seed: number): Promise<Tally> {
  const tally = createTally();
  await runRound(part, seed, { tally, endsAt: performance.now(), isShort: true });
  expect(tally.failures).toEqual([]);
  expect(tally.faults).toBeGreaterThan(0);
  return tally;
}
