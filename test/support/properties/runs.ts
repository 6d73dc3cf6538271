import type { Parameters } from "fast-check";

/**
 * A fixed seed, so that a failure can be repeated. SEED=n in the environment uses another one, and
 * RUNS=n multiplies the number of runs.
 */
const seed = Number(process.env.SEED ?? 20_261_115);
const times = Number(process.env.RUNS ?? 1);

export function runs(count: number): Parameters<unknown> {
  return { numRuns: count * times, seed };
}
