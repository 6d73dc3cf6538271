// A few seconds of load with every answer checked and nothing timed: for the test suite.
import { checkPets, type Entry } from "./catalogue.ts";
import { drive } from "./drive.ts";
import { scriptsFor, type Work } from "./load.ts";
import type { Target } from "./scripts.ts";

export interface QuickLoad {
  /** The service's address, with or without the path /v1. */
  url: string;
  key: string;
  durationMs?: number;
  writers?: number;
  readers?: number;
}

/**
 * Lets writers raise quantities while readers check that each list is whole, current and not from
 * the future. The catalogue must be the pets 1 … n, and nobody else may write meanwhile. Rejects at
 * the first wrong answer; returns how many answers there were.
 */
export async function quickLoad(load: QuickLoad): Promise<{ gets: number; patches: number }> {
  const { hostname, port } = new URL(load.url);
  const target = { host: hostname, port: Number(port || 80), key: load.key };
  const list = await readList(target);
  const work: Work = {
    kind: "mixed",
    writers: Math.min(load.writers ?? 16, list.length),
    readers: load.readers ?? 8,
    entries: list.length,
    // Above anything there, so that what a read shows tells whether it is current.
    quantity: Math.max(...list.map(({ quantity }) => quantity)) + 1,
  };
  const outcome = await drive(target, scriptsFor(target, work), load.durationMs ?? 2000);
  return { gets: outcome.get.requests, patches: outcome.patch.requests };
}

async function readList({ host, port, key }: Target): Promise<Entry[]> {
  const answer = await fetch(`http://${host}:${port}/v1/inventory`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (answer.status !== 200) throw new Error(`The list was answered with ${answer.status}.`);
  const body = await answer.text();
  const list = JSON.parse(body) as Entry[];
  checkPets(body, list.length);
  return list;
}
