import type { Parameters } from "fast-check";

/**
 * A fixed seed: a suite that fails must fail again. SEED=n in the environment looks elsewhere, and
 * RUNS=n looks n times as long.
 */
const seed = Number(process.env.SEED ?? 20_261_115);
const times = Number(process.env.RUNS ?? 1);

export function runs(count: number): Parameters<unknown> {
  return { numRuns: count * times, seed };
}
