// A short load for the test suite: every response is checked, nothing is measured.
import { checkPets, type Entry } from "./catalogue.ts";
import { runScripts } from "./run-scripts.ts";
import type { Target } from "./scripts.ts";
import { scriptsFor, type Work } from "./work.ts";

export interface CheckedLoad {
  /** The URL of the service, with or without the path /v1. */
  url: string;
  key: string;
  durationMs?: number;
  writers?: number;
  readers?: number;
}

/**
 * Writers increment quantities while readers check that each list is complete and current. The
 * catalogue must be the pets 1 … n, without other writers. Rejects at the first wrong response.
 * Returns the number of responses.
 */
export async function runCheckedLoad(
  load: CheckedLoad,
): Promise<{ gets: number; patches: number }> {
  const { hostname, port } = new URL(load.url);
  const target = { host: hostname, port: Number(port || 80), key: load.key };
  const list = await readList(target);
  const work: Work = {
    kind: "mixed",
    writers: Math.min(load.writers ?? 16, list.length),
    readers: load.readers ?? 8,
    entries: list.length,
    // Above every existing quantity, so that an old quantity is recognized as stale.
    quantity: Math.max(...list.map(({ quantity }) => quantity)) + 1,
  };
  const result = await runScripts(target, scriptsFor(target, work), load.durationMs ?? 2000);
  return { gets: result.get.requests, patches: result.patch.requests };
}

async function readList({ host, port, key }: Target): Promise<Entry[]> {
  const response = await fetch(`http://${host}:${port}/v1/inventory`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (response.status !== 200)
    throw new Error(`GET /v1/inventory returned status ${response.status}.`);
  const body = await response.text();
  const list = JSON.parse(body) as Entry[];
  checkPets(body, list.length);
  return list;
}
