// A few seconds of load with every answer checked and nothing timed: for the test suite.
import { drive } from "./drive.ts";
import { scriptsFor, type Work } from "./load.ts";

export interface QuickLoad {
  /** The service's address, with or without the path /v1. */
  url: string;
  key: string;
  /** The catalogue must hold the pets 1 … entries. */
  entries: number;
  /** In which quantities are raised from here: above any quantity there, or reads look stale. */
  quantity?: number;
  durationMs?: number;
  writers?: number;
  readers?: number;
}

/**
 * Lets writers raise quantities while readers check that each list is whole, current and not from
 * the future. Rejects at the first wrong answer; returns how many there were.
 */
export async function quickLoad(load: QuickLoad): Promise<{ gets: number; patches: number }> {
  const { hostname, port } = new URL(load.url);
  const target = { host: hostname, port: Number(port || 80), key: load.key };
  const work: Work = {
    kind: "mixed",
    writers: Math.min(load.writers ?? 16, load.entries),
    readers: load.readers ?? 8,
    entries: load.entries,
    quantity: load.quantity ?? 1_000_000,
  };
  const outcome = await drive(target, scriptsFor(target, work), load.durationMs ?? 2000);
  return { gets: outcome.get.requests, patches: outcome.patch.requests };
}
